import { hasPictureOn, notePictureOn } from "./drive-memory.ts";
import type { DriveWindow } from "./drive-window.ts";
import type { Drive, DriveCallOptions, DriveKind } from "./drive.ts";

export interface SavingTools extends DriveCallOptions {
  readonly open: () => DriveWindow;
  /** The drive holds a picture and a kit is to lie beside it, or the other way round. */
  readonly confirmBeside: () => Promise<boolean>;
}

/**
 * Signs in, looks what lies there already, and saves all files. False when the person kept them
 * back.
 */
export async function saveToDrive(
  drive: Drive,
  kind: DriveKind,
  files: readonly File[],
  { open, confirmBeside, signal, onProgress }: SavingTools,
): Promise<boolean> {
  const token = await drive.tokenForSaving(open, signal);
  onProgress({ done: 0, total: 0 });
  const beside =
    kind === "kit"
      ? hasPictureOn(drive.name) || (await drive.holds("picture", token, signal))
      : await drive.holds("kit", token, signal);
  if (beside && !(await confirmBeside())) return false;
  const total = files.reduce((sum, { size }) => sum + size, 0);
  let before = 0;
  for (const file of files) {
    await drive.save(file, token, {
      signal,
      onProgress: ({ done }) => {
        onProgress({ done: before + done, total });
      },
    });
    before += file.size;
  }
  if (kind === "picture") notePictureOn(drive.name);
  return true;
}
