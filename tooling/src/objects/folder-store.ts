import { randomBytes } from "node:crypto";
import { constants } from "node:fs";
import { access, link, mkdir, open, readdir, rm } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

import { maxSmallSealedBytes } from "@relicario/shared/api";

import { getErrorCode } from "../error-code.ts";
import {
  createObjectStore,
  ExistingObjectError,
  MissingObjectError,
  ObjectStoreError,
  type ObjectStore,
  type ObjectStoreFault,
  type StoreBackend,
} from "./object-store.ts";

/** A small secret is one chunk: it is verified before its first byte is sent. */
const readChunkBytes = maxSmallSealedBytes;

const temporarySuffix = /\.[0-9a-f]{12}\.tmp$/;

/** By the system's error code (errno(3)). */
const faultsByCode: Readonly<Record<string, ObjectStoreFault>> = {
  ENOSPC: "full",
  EDQUOT: "full",
  EROFS: "away", // the kernel's answer to a failing disk
  ENOTCONN: "away",
  ESTALE: "away",
  ETIMEDOUT: "away",
  EHOSTDOWN: "away",
  EMFILE: "busy",
  ENFILE: "busy",
};

/**
 * Stores objects as files: written under a temporary name, fsynced, linked to the name, and the
 * folder fsynced, so that each is complete or absent.
 *
 * @param url a path or a `file://` address
 */
export async function openFolderStore(url: string): Promise<ObjectStore> {
  const root = resolve(url.startsWith("file://") ? fileURLToPath(url) : url);
  await mkdir(root, { recursive: true, mode: 0o700 });
  return createObjectStore(createFolderBackend(root));
}

const createFolderBackend = (root: string): StoreBackend => ({
  async put(key, bytes) {
    const path = join(root, key);
    await withStoreFaults(async () => {
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
        await linkOnce(temporaryPath, path);
      } finally {
        await rm(temporaryPath, { force: true });
      }
      await syncFolder(dirname(path));
    });
  },
  read: (key) =>
    withStoreFaults(async () => {
      const file = await open(join(root, key), "r").catch((cause: unknown) => {
        throw getErrorCode(cause) === "ENOENT" ? new MissingObjectError("no such object", { cause }) : cause;
      });
      return file.createReadStream({ highWaterMark: readChunkBytes });
    }),
  async delete(key) {
    const path = join(root, key);
    await rm(path, { force: true });
    // Also deletes temporary files that a killed process left under this key.
    const siblings = await readdir(dirname(path)).catch(() => []); // no such folder
    for (const name of siblings)
      if (name.startsWith(`${basename(path)}.`)) await rm(join(dirname(path), name), { force: true });
  },
  async *list() {
    const entries = await readdir(root, { recursive: true, withFileTypes: true });
    for (const entry of entries)
      if (entry.isFile())
        yield join(entry.parentPath, entry.name)
          .slice(root.length + 1)
          .replaceAll("\\", "/")
          .replace(temporarySuffix, "");
  },
  ping: () => access(root, constants.W_OK),
});

async function withStoreFaults<T>(call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (cause) {
    const fault = faultsByCode[getErrorCode(cause) ?? ""];
    throw fault === undefined ? cause : new ObjectStoreError(fault, { cause });
  }
}

/** Unlike a rename, a link never replaces a file. */
async function linkOnce(from: string, to: string): Promise<void> {
  try {
    await link(from, to);
  } catch (cause) {
    throw getErrorCode(cause) === "EEXIST" ? new ExistingObjectError("the key exists", { cause }) : cause;
  }
}

/** Fsyncs the parents of new folders, whose entries must survive a power loss too. */
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
