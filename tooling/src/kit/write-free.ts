import { constants } from "node:fs";
import { copyFile, link, open, rm } from "node:fs/promises";
import { join, parse } from "node:path";
import { randomUUID } from "node:crypto";

import { PortalError } from "@relicario/shared/errors";
import { safeFileName } from "@relicario/vault/kit";

import { codeOf } from "../error-code.ts";

/** Tries of names before a folder counts as full of them. */
const mostNames = 1_000;

/**
 * Writes a file that only its owner reads, under this name or, where that is taken, the next one:
 * `name (2).txt`. Nothing of it stands under its name before its last piece came, and nothing is
 * overwritten.
 *
 * @returns its path.
 * @throws PortalError `storage_full`, and whatever the pieces throw.
 */
export async function writeFree(folder: string, wanted: string, pieces: AsyncIterable<Uint8Array>): Promise<string> {
  const part = join(folder, `.${randomUUID()}.part`);
  try {
    await writePart(part, pieces);
    return await placed(part, folder, safeFileName(wanted));
  } finally {
    await rm(part, { force: true });
  }
}

async function writePart(path: string, pieces: AsyncIterable<Uint8Array>): Promise<void> {
  const file = await refusedAsFull(open(path, "wx", 0o600));
  try {
    for await (const bytes of pieces) await refusedAsFull(file.appendFile(bytes));
    await refusedAsFull(file.sync());
  } finally {
    await file.close();
  }
}

async function placed(part: string, folder: string, name: string): Promise<string> {
  const { name: stem, ext } = parse(name);
  for (let number = 1; number <= mostNames; number++) {
    const path = join(folder, number === 1 ? name : `${stem} (${String(number)})${ext}`);
    try {
      await linked(part, path);
      return path;
    } catch (error) {
      if (codeOf(error) !== "EEXIST") throw new PortalError("storage_full", { cause: error });
    }
  }
  throw new PortalError("storage_full");
}

/** Some file systems have no links. */
async function linked(part: string, path: string): Promise<void> {
  try {
    await link(part, path);
  } catch (error) {
    if (codeOf(error) === "EEXIST") throw error;
    await copyFile(part, path, constants.COPYFILE_EXCL);
  }
}

async function refusedAsFull<T>(work: Promise<T>): Promise<T> {
  return work.catch((cause: unknown) => {
    throw new PortalError("storage_full", { cause });
  });
}
