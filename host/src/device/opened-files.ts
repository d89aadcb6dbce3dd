import { deviceStorage, buildOpenedFileLockName } from "@relicario/shared/contract";

/** So long a file may still be open, after the worker that wrote it was ended; milliseconds. */
const closeLimitMs = 3_000;

/**
 * Removes every private file with opened content, also those of this very page: it is plaintext.
 * Those who wrote one were ended, here and in the other tabs; browsers close their files a moment
 * later.
 *
 * Rejects when one of them stayed open.
 */
export async function removeOpenedFiles(): Promise<void> {
  const folder = await getOpenedFolder();
  if (folder === null) return;
  const names: string[] = [];
  for await (const name of folder.keys()) names.push(name);
  const removed = await Promise.allSettled(names.map((name) => removeFile(folder, name)));
  for (const result of removed) if (result.status === "rejected") throw result.reason;
}

async function removeFile(folder: FileSystemDirectoryHandle, name: string): Promise<void> {
  try {
    await folder.removeEntry(name);
  } catch (error) {
    if (isNamed(error, "NotFoundError")) return; // another tab was first
    await navigator.locks
      .request(buildOpenedFileLockName(name), { signal: AbortSignal.timeout(closeLimitMs) }, () =>
        folder.removeEntry(name),
      )
      .catch((retryError: unknown) => {
        if (!isNamed(retryError, "NotFoundError")) throw retryError;
      });
  }
}

async function getOpenedFolder(): Promise<FileSystemDirectoryHandle | null> {
  try {
    return await (await navigator.storage.getDirectory()).getDirectoryHandle(deviceStorage.openedFilesFolder);
  } catch {
    return null; // none was made, or no private files in this browser or mode
  }
}

function isNamed(error: unknown, name: string): boolean {
  return error instanceof Error && error.name === name;
}
