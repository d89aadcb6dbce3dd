import { randomBytes } from "node:crypto";
import { constants } from "node:fs";
import { access, mkdir, open, readdir, rename, rm } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

import { maxSmallSealedBytes } from "@relicario/shared/api";

import { MissingObjectError, type ObjectStore } from "./object-store.ts";

/** `<account id>/<id of a secret or an answer>/<version>-<random>`: nothing else becomes a path. */
const keyPattern = /^[0-9a-f-]{36}\/[0-9a-f-]{36}\/[0-9]{1,10}-[A-Za-z0-9_-]{1,40}$/;

/** A small secret is one piece: it is checked before its first byte goes out. */
const readChunkBytes = maxSmallSealedBytes;

/**
 * Objects as files: written under a temporary name, fsynced, renamed, and the folder fsynced, so
 * that each is whole or absent.
 */
export async function openFolderStore(url: string): Promise<ObjectStore> {
  const root = resolve(url.startsWith("file://") ? fileURLToPath(url) : url);
  await mkdir(root, { recursive: true, mode: 0o700 });
  const getObjectPath = (key: string): string => {
    if (!keyPattern.test(key)) throw new TypeError("not an object key");
    return join(root, key);
  };
  return {
    async put(key, bytes) {
      const path = getObjectPath(key);
      await createFolders(root, dirname(path));
      const temporaryPath = `${path}.${randomBytes(6).toString("hex")}.tmp`;
      try {
        const file = await open(temporaryPath, "wx", 0o600);
        try {
          await file.writeFile(bytes);
          await file.sync();
        } finally {
          await file.close();
        }
        await rename(temporaryPath, path);
      } catch (error) {
        await rm(temporaryPath, { force: true });
        throw error;
      }
      await syncFolder(dirname(path));
    },
    async read(key) {
      const file = await withMissingError(() => open(getObjectPath(key), "r"));
      return file.createReadStream({ highWaterMark: readChunkBytes });
    },
    async delete(key) {
      const path = getObjectPath(key);
      await rm(path, { force: true });
      // What a killed process left unfinished under this key goes too.
      const siblings = await readdir(dirname(path)).catch(() => []); // no folder, nothing to remove
      for (const name of siblings)
        if (name.startsWith(`${basename(path)}.`)) await rm(join(dirname(path), name), { force: true });
    },
    checkWritable: () => access(root, constants.W_OK),
  };
}

async function withMissingError<T>(read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (cause) {
    if (hasErrorCode(cause, "ENOENT")) throw new MissingObjectError("no such object", { cause });
    throw cause;
  }
}

/** A new folder is itself an entry that must survive a loss of power. */
async function createFolders(root: string, folder: string): Promise<void> {
  const firstCreated = await mkdir(folder, { recursive: true, mode: 0o700 });
  if (firstCreated === undefined) return;
  for (let parent = dirname(folder); parent.length >= root.length; parent = dirname(parent)) await syncFolder(parent);
}

async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

export function hasErrorCode(error: unknown, code: string): boolean {
  return Error.isError(error) && "code" in error && error.code === code;
}
