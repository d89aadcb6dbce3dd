import { deviceStorage, buildOpenedFileLockName } from "@relicario/shared/contract";
import { PortalError } from "@relicario/shared/errors";

import { mapQuotaError } from "../device/quota-error.ts";
import type { Bytes } from "../seal/bytes.ts";

declare global {
  interface FileSystemFileHandle {
    /**
     * In workers alone, and for private files; TypeScript knows it only in its types of workers.
     */
    createSyncAccessHandle(): Promise<{
      write(bytes: Uint8Array, options: { at: number }): number;
      flush(): void;
      close(): void;
    }>;
  }
}

/** Where opened content goes. Nothing of it can be seen before it is committed. */
export interface Sink<T extends Blob | null = Blob | null> {
  readonly write: (bytes: Bytes) => Promise<void>;
  /** The content where it is private to this page; null where it went to the person's file. */
  readonly commit: () => Promise<T>;
  readonly discard: () => Promise<void>;
}

/** Commits what `fill` wrote when all of it went well; after anything else nothing of it stays. */
export async function commitOnSuccess<T extends Blob | null>(sink: Sink<T>, fill: () => Promise<void>): Promise<T> {
  try {
    await fill();
    return await sink.commit();
  } catch (error) {
    // what failed first is told; a private file is swept with the next page
    await sink.discard().catch(() => undefined);
    throw error;
  }
}

/**
 * The file that the person chose. The browser writes beside it and puts it in place when it is
 * closed.
 */
export async function createFileSink(handle: FileSystemFileHandle): Promise<Sink<null>> {
  const stream = await handle.createWritable();
  return {
    write: (bytes) => mapQuotaError(() => stream.write(bytes)),
    commit: async () => {
      await mapQuotaError(() => stream.close());
      return null;
    },
    discard: () => stream.abort(),
  };
}

/**
 * A file of this origin that no other page uses and that goes with this worker; in memory where
 * there is none (some private modes). Only in a worker.
 */
export async function createPrivateSink(): Promise<Sink<Blob>> {
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

/** Removes what pages that are gone left behind: it is plaintext. */
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
    return null; // none yet, or no private files in this browser or mode: memory has to do
  }
}

/** Held until it is released, or the worker ends. */
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

/** Blobs are the browser's to keep: it may put large ones on disk. */
function createMemorySink(): Sink<Blob> {
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
