import { constants } from "node:fs";
import { copyFile, link, open, rm } from "node:fs/promises";
import { join, parse } from "node:path";
import { randomUUID } from "node:crypto";

import { toSafeFileName } from "@relicario/shared/api";
import { PortalError } from "@relicario/shared/errors";

const maxNameAttempts = 1_000;

/**
 * Writes a file that only its owner can read. If the name is taken, uses the next free one: `name
 * (2).txt`. The file appears only when it is complete. Overwrites nothing.
 *
 * @returns the path of the file
 * @throws PortalError `storage_full`, and errors of `chunks`
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

/** Copies if the file system has no hard links. */
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
