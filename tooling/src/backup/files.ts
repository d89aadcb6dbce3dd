import { createHash } from "node:crypto";
import { createReadStream, createWriteStream } from "node:fs";
import { open, readdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { pipeline } from "node:stream/promises";
import type { Readable } from "node:stream";

import { getErrorCode } from "../error-code.ts";

export interface FileDigest {
  readonly size: number;
  /** Hex. */
  readonly sha256: string;
}

/** Writes and syncs a new file that only its owner can read (0600). */
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

/** Size and digest of a file; null when it does not exist. */
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
 * Syncs the folders of these files up to and including `root`, so that the files' names survive a
 * crash.
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

/** Lists a folder's files as relative paths with `/`; none when the folder does not exist. */
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
