import { createHash, randomBytes } from "node:crypto";
import { createReadStream, createWriteStream } from "node:fs";
import { mkdir, open, readdir, rename, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { pipeline } from "node:stream/promises";
import type { Readable } from "node:stream";

import { getErrorCode } from "../error-code.ts";

export interface FileDigest {
  readonly size: number;
  /** Hex. */
  readonly sha256: string;
}

/** Writes a new file and brings it to the disk. Readable by its owner alone. */
export async function writeFileDurably(source: Readable, file: string): Promise<FileDigest> {
  const hash = createHash("sha256");
  let size = 0;
  await pipeline(
    source,
    async function* (chunks: AsyncIterable<Buffer>) {
      for await (const chunk of chunks) {
        hash.update(chunk);
        size += chunk.length;
        yield chunk;
      }
    },
    createWriteStream(file, { flags: "wx", mode: 0o600, flush: true }),
  );
  return { size, sha256: hash.digest("hex") };
}

/** What a file holds; null when there is none. */
export async function hashFile(file: string): Promise<FileDigest | null> {
  const hash = createHash("sha256");
  let size = 0;
  try {
    for await (const chunk of createReadStream(file) as AsyncIterable<Buffer>) {
      hash.update(chunk);
      size += chunk.length;
    }
  } catch (error) {
    if (getErrorCode(error) === "ENOENT") return null;
    throw error;
  }
  return { size, sha256: hash.digest("hex") };
}

/**
 * A copy under its name only when it is whole and holds what was expected; a `sha256` of null
 * expects the size alone.
 *
 * @returns what the source holds, null when it is missing or cannot be read; the copy is there when
 *   it fits.
 */
export async function copyVerified(
  from: string,
  to: string,
  expected: { readonly size: number; readonly sha256: string | null },
): Promise<{ readonly digest: FileDigest | null; readonly matches: boolean }> {
  await mkdir(dirname(to), { recursive: true, mode: 0o700 });
  const temporaryFile = `${to}.${randomBytes(6).toString("hex")}.tmp`;
  const source = createReadStream(from);
  let unreadable: unknown = null;
  source.once("error", (error) => {
    unreadable = error;
  });
  try {
    const digest = await writeFileDurably(source, temporaryFile);
    const matches = digest.size === expected.size && (expected.sha256 === null || digest.sha256 === expected.sha256);
    if (matches) await rename(temporaryFile, to);
    return { digest, matches };
  } catch (error) {
    if (error !== unreadable) throw error; // the copy could not be written
    return { digest: null, matches: false };
  } finally {
    await rm(temporaryFile, { force: true });
  }
}

/**
 * Brings the entries of these files to the disk, and those of the folders that they are in, up to
 * and with `root`.
 */
export async function syncFolders(root: string, files: readonly string[]): Promise<void> {
  const folders = new Set([root]);
  for (const file of files)
    for (let folder = dirname(file); folder.length > root.length; folder = dirname(folder)) folders.add(folder);
  for (const folder of folders) {
    const handle = await open(folder, "r");
    try {
      await handle.sync();
    } finally {
      await handle.close();
    }
  }
}

/**
 * Paths of all files below a folder, with `/` between their parts; none when there is no folder.
 */
export async function listFiles(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch((error: unknown) => {
    if (getErrorCode(error) === "ENOENT") return [];
    throw error;
  });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) =>
      join(entry.parentPath, entry.name)
        .slice(folder.length + 1)
        .replaceAll("\\", "/"),
    );
}
