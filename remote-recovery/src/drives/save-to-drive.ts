import { hasPictureOn, markPictureOn } from "./drive-memory.ts";
import type { DriveWindow } from "./drive-window.ts";
import type { Drive, DriveCallOptions, DriveContentKind } from "./drive.ts";

export interface SaveToDriveOptions extends DriveCallOptions {
  readonly openWindow: () => DriveWindow;
  /** Asks before a kit and a picture are saved on one drive. */
  readonly confirmSameDrive: () => Promise<boolean>;
}

/**
 * Signs in, warns if the drive has the counterpart (the kit of a picture, the picture of a kit),
 * and saves the files. Returns false if the person declined.
 */
export async function saveToDrive(
  drive: Drive,
  kind: DriveContentKind,
  files: readonly File[],
  { openWindow, confirmSameDrive, signal, onProgress }: SaveToDriveOptions,
): Promise<boolean> {
  const token = await drive.getSaveToken(openWindow, signal);
  onProgress({ done: 0, total: 0 });
  const hasCounterpart =
    kind === "kit"
      ? hasPictureOn(drive.name) || (await drive.contains("picture", token, signal))
      : await drive.contains("kit", token, signal);
  if (hasCounterpart && !(await confirmSameDrive())) return false;
  const total = files.reduce((sum, { size }) => sum + size, 0);
  let sentBytes = 0;
  for (const file of files) {
    await drive.save(file, token, {
      signal,
      onProgress: ({ done }) => {
        onProgress({ done: sentBytes + done, total });
      },
    });
    sentBytes += file.size;
  }
  if (kind === "picture") markPictureOn(drive.name);
  return true;
}
