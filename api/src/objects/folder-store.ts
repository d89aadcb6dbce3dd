import { randomBytes } from "node:crypto";
import { constants } from "node:fs";
import { access, mkdir, open, readdir, rename, rm } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

import { maxSmallSecretBytes } from "@relicario/shared/api";

import { ObjectMissing, type ObjectStore } from "./object-store.ts";

/** `<account id>/<id of a secret or an answer>/<version>-<random>`: nothing else becomes a path. */
const keyPattern = /^[0-9a-f-]{36}\/[0-9a-f-]{36}\/[0-9]{1,10}-[A-Za-z0-9_-]{1,40}$/;

/** A small secret is one piece: it is checked before its first byte goes out. */
const readAtOnceBytes = maxSmallSecretBytes;

/**
 * Objects as files: written under a temporary name, fsynced, renamed, and the folder fsynced, so
 * that each is whole or absent.
 */
export async function openFolderStore(url: string): Promise<ObjectStore> {
  const root = resolve(url.startsWith("file://") ? fileURLToPath(url) : url);
  await mkdir(root, { recursive: true, mode: 0o700 });
  const pathOf = (key: string): string => {
    if (!keyPattern.test(key)) throw new TypeError("not an object key");
    return join(root, key);
  };
  return {
    async put(key, bytes) {
      const path = pathOf(key);
      await makeFolders(root, dirname(path));
      const unfinished = `${path}.${randomBytes(6).toString("hex")}.tmp`;
      try {
        const file = await open(unfinished, "wx", 0o600);
        try {
          await file.writeFile(bytes);
          await file.sync();
        } finally {
          await file.close();
        }
        await rename(unfinished, path);
      } catch (error) {
        await rm(unfinished, { force: true });
        throw error;
      }
      await syncFolder(dirname(path));
    },
    async read(key) {
      const file = await orMissing(() => open(pathOf(key), "r"));
      return file.createReadStream({ highWaterMark: readAtOnceBytes });
    },
    async delete(key) {
      const path = pathOf(key);
      await rm(path, { force: true });
      // What a killed process left unfinished under this key goes too.
      const beside = await readdir(dirname(path)).catch(() => []); // no folder, nothing to remove
      for (const name of beside)
        if (name.startsWith(`${basename(path)}.`)) await rm(join(dirname(path), name), { force: true });
    },
    check: () => access(root, constants.W_OK),
  };
}

async function orMissing<T>(read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (cause) {
    if (isCode(cause, "ENOENT")) throw new ObjectMissing("no such object", { cause });
    throw cause;
  }
}

/** A new folder is itself an entry that must survive a loss of power. */
async function makeFolders(root: string, folder: string): Promise<void> {
  const first = await mkdir(folder, { recursive: true, mode: 0o700 });
  if (first === undefined) return;
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

export function isCode(error: unknown, code: string): boolean {
  return Error.isError(error) && "code" in error && error.code === code;
}
