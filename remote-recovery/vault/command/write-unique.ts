import { constants } from "node:fs";
import { copyFile, link, open, rm } from "node:fs/promises";
import { join, parse } from "node:path";
import { randomUUID } from "node:crypto";

import { PortalError } from "@relicario/shared/errors";

import { toSafeFileName } from "../src/kit/safe-name.ts";

/** Tries of names before a folder counts as full of them. */
const maxNameAttempts = 1_000;

/**
 * Writes a file that only its owner reads, under this name or, where that is taken, the next one:
 * `name (2).txt`. Nothing of it stands under its name before its last piece came, and nothing is
 * overwritten.
 *
 * @returns its path.
 * @throws PortalError `storage_full`, and whatever the pieces throw.
 */
export async function writeUniqueFile(
  folder: string,
  preferredName: string,
  chunks: AsyncIterable<Uint8Array>,
): Promise<string> {
  const temporaryFile = join(folder, `.${randomUUID()}.part`);
  try {
    await writeTemporaryFile(temporaryFile, chunks);
    return await moveToFreeName(temporaryFile, folder, toSafeFileName(preferredName));
  } finally {
    await rm(temporaryFile, { force: true });
  }
}

async function writeTemporaryFile(path: string, chunks: AsyncIterable<Uint8Array>): Promise<void> {
  const file = await rethrowAsStorageFull(open(path, "wx", 0o600));
  try {
    for await (const bytes of chunks) await rethrowAsStorageFull(file.appendFile(bytes));
    await rethrowAsStorageFull(file.sync());
  } finally {
    await file.close();
  }
}

async function moveToFreeName(temporaryFile: string, folder: string, name: string): Promise<string> {
  const { name: stem, ext } = parse(name);
  for (let number = 1; number <= maxNameAttempts; number++) {
    const path = join(folder, number === 1 ? name : `${stem} (${String(number)})${ext}`);
    try {
      await linkOrCopy(temporaryFile, path);
      return path;
    } catch (error) {
      if (!isTaken(error)) throw new PortalError("storage_full", { cause: error });
    }
  }
  throw new PortalError("storage_full");
}

/** Some file systems have no links. */
async function linkOrCopy(temporaryFile: string, path: string): Promise<void> {
  try {
    await link(temporaryFile, path);
  } catch (error) {
    if (isTaken(error)) throw error;
    await copyFile(temporaryFile, path, constants.COPYFILE_EXCL);
  }
}

async function rethrowAsStorageFull<T>(operation: Promise<T>): Promise<T> {
  return operation.catch((cause: unknown) => {
    throw new PortalError("storage_full", { cause });
  });
}

function isTaken(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "EEXIST";
}
