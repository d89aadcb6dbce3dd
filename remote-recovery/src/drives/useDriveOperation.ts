import { usePortal } from "@relicario/shared/contract";
import { isPortalError } from "@relicario/shared/errors";
import { useEffect, useEffectEvent, useMemo, useRef, useState } from "react";

import { clearOnLock } from "./drive-memory.ts";
import { openDriveWindow, type DriveWindow } from "./drive-window.ts";
import type { Drive, DriveCallOptions, DriveName, DriveProgress } from "./drive.ts";
import { createGoogleDrive } from "./google-drive.ts";
import { createOneDrive } from "./onedrive.ts";

export type DriveOperation =
  | { readonly status: "idle" }
  /** The person is asked in a window; `windowLost`: it cannot be seen any more. */
  | { readonly status: "waiting"; readonly drive: DriveName; readonly windowLost: boolean }
  | { readonly status: "moving"; readonly drive: DriveName; readonly progress: DriveProgress }
  | { readonly status: "failed"; readonly drive: DriveName; readonly error: unknown }
  | { readonly status: "done"; readonly drive: DriveName };

export interface DriveOperationOptions extends DriveCallOptions {
  readonly openWindow: () => DriveWindow;
}

/** The drives of this deployment. */
export function useDrives(): readonly Drive[] {
  const { google, onedrive } = usePortal().drives;
  return useMemo(
    () => [
      ...(google === undefined ? [] : [createGoogleDrive(google)]),
      ...(onedrive === undefined ? [] : [createOneDrive(onedrive)]),
    ],
    [google, onedrive],
  );
}

/**
 * One act at a time: a newer one, a lock and leaving the screen end the one before, and close its
 * window.
 */
export function useDriveOperation() {
  const portal = usePortal();
  const [operation, setOperation] = useState<DriveOperation>({ status: "idle" });
  const activeController = useRef<AbortController | null>(null);
  const cancel = () => {
    activeController.current?.abort();
    activeController.current = null;
    setOperation({ status: "idle" });
  };
  const handleLock = useEffectEvent(cancel);
  useEffect(
    () =>
      portal.onLock(() => {
        handleLock();
      }),
    [portal],
  );
  useEffect(() => () => activeController.current?.abort(), []);

  /** @param perform True when it was done; false when the person thought better of it */
  const run = async (
    { name: drive }: Drive,
    perform: (options: DriveOperationOptions) => Promise<boolean>,
  ): Promise<void> => {
    activeController.current?.abort();
    const controller = new AbortController();
    activeController.current = controller;
    const update = (nextOperation: DriveOperation) => {
      if (activeController.current === controller) setOperation(nextOperation);
    };
    let popup: DriveWindow | null = null;
    const closeWindow = () => {
      popup?.close();
      popup = null;
    };
    clearOnLock(portal);
    try {
      const done = await perform({
        signal: controller.signal,
        openWindow: () => {
          update({ status: "waiting", drive, windowLost: false });
          popup = openDriveWindow({
            signal: controller.signal,
            onLost: () => {
              update({ status: "waiting", drive, windowLost: true });
            },
          });
          return popup;
        },
        onProgress: (progress) => {
          closeWindow(); // what is asked there is answered
          update({ status: "moving", drive, progress });
        },
      });
      update(done ? { status: "done", drive } : { status: "idle" });
    } catch (error) {
      update(isPortalError(error, "cancelled") ? { status: "idle" } : { status: "failed", drive, error });
    } finally {
      closeWindow();
    }
  };
  return { operation, run, cancel };
}
