import { usePortal } from "@relicario/shared/contract";
import { isPortalError } from "@relicario/shared/errors";
import { useEffect, useEffectEvent, useMemo, useRef, useState } from "react";

import { rememberUntilLock } from "./drive-memory.ts";
import { openDriveWindow, type DriveWindow } from "./drive-window.ts";
import type { Drive, DriveCallOptions, DriveName, DriveProgress } from "./drive.ts";
import { googleDrive } from "./google-drive.ts";
import { oneDrive } from "./onedrive.ts";

export type DriveAct =
  | { readonly status: "idle" }
  /** The person is asked in a window; `lost`: it cannot be seen any more. */
  | { readonly status: "waiting"; readonly drive: DriveName; readonly lost: boolean }
  | { readonly status: "moving"; readonly drive: DriveName; readonly progress: DriveProgress }
  | { readonly status: "failed"; readonly drive: DriveName; readonly error: unknown }
  | { readonly status: "done"; readonly drive: DriveName };

export interface DriveTools extends DriveCallOptions {
  readonly open: () => DriveWindow;
}

/** The drives of this deployment. */
export function useDrives(): readonly Drive[] {
  const { google, onedrive } = usePortal().drives;
  return useMemo(
    () => [
      ...(google === undefined ? [] : [googleDrive(google)]),
      ...(onedrive === undefined ? [] : [oneDrive(onedrive)]),
    ],
    [google, onedrive],
  );
}

/**
 * One act at a time: a newer one, a lock and leaving the screen end the one before, and close its
 * window.
 */
export function useDriveAct() {
  const portal = usePortal();
  const [act, setAct] = useState<DriveAct>({ status: "idle" });
  const running = useRef<AbortController | null>(null);
  const cancel = () => {
    running.current?.abort();
    running.current = null;
    setAct({ status: "idle" });
  };
  const handleLock = useEffectEvent(cancel);
  useEffect(
    () =>
      portal.onLock(() => {
        handleLock();
      }),
    [portal],
  );
  useEffect(() => () => running.current?.abort(), []);

  /** @param work True when it was done; false when the person thought better of it */
  const run = async ({ name: drive }: Drive, work: (tools: DriveTools) => Promise<boolean>): Promise<void> => {
    running.current?.abort();
    const own = new AbortController();
    running.current = own;
    const show = (next: DriveAct) => {
      if (running.current === own) setAct(next);
    };
    let popup: DriveWindow | null = null;
    const endWindow = () => {
      popup?.close();
      popup = null;
    };
    rememberUntilLock(portal);
    try {
      const done = await work({
        signal: own.signal,
        open: () => {
          show({ status: "waiting", drive, lost: false });
          popup = openDriveWindow({
            signal: own.signal,
            onLost: () => {
              show({ status: "waiting", drive, lost: true });
            },
          });
          return popup;
        },
        onProgress: (progress) => {
          endWindow(); // what is asked there is answered
          show({ status: "moving", drive, progress });
        },
      });
      show(done ? { status: "done", drive } : { status: "idle" });
    } catch (error) {
      show(isPortalError(error, "cancelled") ? { status: "idle" } : { status: "failed", drive, error });
    } finally {
      endWindow();
    }
  };
  return { act, run, cancel };
}
