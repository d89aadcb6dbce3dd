import { deviceStorage, buildOpenedFileLockName } from "@relicario/shared/contract";

/** How long a file may stay open after its worker was terminated, in milliseconds. */
const closeLimitMs = 3_000;

/**
 * Removes all private files with opened content, which are plaintext, including those of this page.
 *
 * Call it after the workers that wrote the files were terminated, here and in the other tabs:
 * browsers close the files a moment later. Rejects when a file is still open after {@link
 * closeLimitMs}.
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
    if (isNamed(error, "NotFoundError")) return; // another tab removed it
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
    return null; // no such folder, or this browser or mode has no private files
  }
}

function isNamed(error: unknown, name: string): boolean {
  return error instanceof Error && error.name === name;
}
