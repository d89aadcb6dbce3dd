import { deviceStorage, buildOpenedFileLockName } from "@relicario/shared/contract";
import { PortalError } from "@relicario/shared/errors";

import { mapQuotaError } from "../device/quota-error.ts";
import type { Bytes } from "../seal/bytes.ts";

declare global {
  interface FileSystemFileHandle {
    /**
     * Exists only in workers, for private files; TypeScript has it only in its types for workers.
     */
    createSyncAccessHandle(): Promise<{
      write(bytes: Uint8Array, options: { at: number }): number;
      flush(): void;
      close(): void;
    }>;
  }
}

/** Destination of opened content; nothing is visible before `commit`. */
export interface Sink {
  readonly write: (bytes: Bytes) => Promise<void>;
  readonly commit: () => Promise<Blob>;
  readonly discard: () => Promise<void>;
}

/** Commits what `fill` wrote, or discards it after a failure. */
export async function commitOnSuccess(sink: Sink, fill: () => Promise<void>): Promise<Blob> {
  try {
    await fill();
    return await sink.commit();
  } catch (error) {
    // only the first failure is thrown; sweepPrivateFiles removes the file later
    await sink.discard().catch(() => undefined);
    throw error;
  }
}

/**
 * Writes to a private file of this origin, locked until this worker ends, or to memory if the
 * browser has none (in some private modes). Only for workers.
 */
export async function createPrivateSink(): Promise<Sink> {
  const folder = await openPrivateFolder({ create: true });
  if (folder === null) return createMemorySink();
  const name = crypto.randomUUID();
  const release = await acquireLock(buildOpenedFileLockName(name));
  const file = await folder.getFileHandle(name, { create: true });
  const accessHandle = await file.createSyncAccessHandle();
  let length = 0;
  return {
    write: (bytes) =>
      mapQuotaError(async () => {
        if (accessHandle.write(bytes, { at: length }) !== bytes.length) throw new PortalError("storage_full");
        length += bytes.length;
      }),
    commit: async () => {
      accessHandle.flush();
      accessHandle.close();
      return file.getFile();
    },
    discard: async () => {
      accessHandle.close();
      await folder.removeEntry(name);
      release();
    },
  };
}

/** Removes files of closed pages, because they contain plaintext. */
export async function sweepPrivateFiles(): Promise<void> {
  const folder = await openPrivateFolder({ create: false });
  if (folder === null) return;
  for await (const name of folder.keys()) {
    await navigator.locks.request(buildOpenedFileLockName(name), { ifAvailable: true }, async (lock) => {
      if (lock !== null) await folder.removeEntry(name);
    });
  }
}

async function openPrivateFolder(options: { readonly create: boolean }): Promise<FileSystemDirectoryHandle | null> {
  try {
    return await (await navigator.storage.getDirectory()).getDirectoryHandle(deviceStorage.openedFilesFolder, options);
  } catch {
    return null; // none yet, or no private files in this browser or mode
  }
}

/** Resolves with a function that releases the lock; the end of the worker also releases it. */
function acquireLock(lockName: string): Promise<() => void> {
  return new Promise((resolve, reject) => {
    navigator.locks
      .request(
        lockName,
        () =>
          new Promise<void>((release) => {
            resolve(release);
          }),
      )
      .catch(reject);
  });
}

/** Collects blobs, which the browser may store on disk. */
function createMemorySink(): Sink {
  let chunks: Blob[] = [];
  return {
    write: async (bytes) => {
      chunks.push(new Blob([bytes]));
    },
    commit: async () => new Blob(chunks),
    discard: async () => {
      chunks = [];
    },
  };
}
