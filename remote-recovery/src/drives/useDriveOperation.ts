import { usePortal } from "@relicario/shared/contract";
import { useVaultOperation } from "@relicario/shared/forms";
import { useMemo, useState } from "react";

import { clearOnLock } from "./drive-memory.ts";
import { openDriveWindow, type DriveWindow } from "./drive-window.ts";
import type { Drive, DriveCallOptions, DriveName, DriveProgress } from "./drive.ts";
import { createGoogleDrive } from "./google-drive.ts";
import { createOneDrive } from "./onedrive.ts";

export type DriveOperation =
  | { readonly status: "idle" }
  /** The person answers in a popup; `windowLost`: it was closed or cut off. */
  | { readonly status: "waiting"; readonly drive: DriveName; readonly windowLost: boolean }
  | { readonly status: "moving"; readonly drive: DriveName; readonly progress: DriveProgress }
  | { readonly status: "failed"; readonly drive: DriveName; readonly error: unknown }
  | { readonly status: "done"; readonly drive: DriveName };

export interface DriveOperationOptions extends DriveCallOptions {
  readonly openWindow: () => DriveWindow;
}

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

/** Null if no popup is open. */
type WindowState = "open" | "lost" | null;

/** Runs one drive operation at a time, and closes its popup afterwards. */
export function useDriveOperation() {
  const portal = usePortal();
  const { running, progress, error, start, cancel } = useVaultOperation();
  const [drive, setDrive] = useState<DriveName | null>(null);
  const [windowState, setWindowState] = useState<WindowState>(null);
  const [isDone, setIsDone] = useState(false);

  /** @param perform resolves to false if the person declined */
  const run = ({ name }: Drive, perform: (options: DriveOperationOptions) => Promise<boolean>): void => {
    setDrive(name);
    setWindowState(null);
    setIsDone(false);
    clearOnLock(portal);
    start({
      run: async ({ signal, onProgress }) => {
        let driveWindow: DriveWindow | null = null;
        const closeWindow = () => {
          driveWindow?.close();
          driveWindow = null;
        };
        const updateWindowState = (next: WindowState) => {
          if (!signal.aborted) setWindowState(next);
        };
        try {
          return await perform({
            signal,
            openWindow: () => {
              updateWindowState("open");
              driveWindow = openDriveWindow({
                signal,
                onLost: () => {
                  updateWindowState("lost");
                },
              });
              return driveWindow;
            },
            onProgress: ({ done, total }) => {
              closeWindow(); // the popup is no longer needed
              updateWindowState(null);
              onProgress({ phase: "sending", done, total });
            },
          });
        } finally {
          closeWindow();
        }
      },
      onDone: setIsDone,
    });
  };
  return { operation: toDriveOperation(), run, cancel };

  function toDriveOperation(): DriveOperation {
    if (drive === null || error?.code === "cancelled" || error?.code === "vault_locked") return { status: "idle" };
    if (error !== null) return { status: "failed", drive, error };
    if (running && windowState !== null) return { status: "waiting", drive, windowLost: windowState === "lost" };
    if (running && progress !== null) return { status: "moving", drive, progress };
    return isDone ? { status: "done", drive } : { status: "idle" };
  }
}
