import { randomUUID } from "node:crypto";
import { linkSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";

import { getErrorCode } from "../error-code.ts";

/** Creates a private file (0600) unless it exists, never a partial one, and returns its content. */
export function writeOnce(file: string, text: string): string {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  const temporaryFile = `${file}.${randomUUID()}.part`;
  writeFileSync(temporaryFile, text, { mode: 0o600 });
  try {
    linkSync(temporaryFile, file);
  } catch (error) {
    // Another process was first: its file counts.
    if (getErrorCode(error) !== "EEXIST") throw error;
  } finally {
    rmSync(temporaryFile, { force: true });
  }
  return readFileSync(file, "utf8");
}

/** Replaces a private file (0600) as a whole. */
export function replaceFile(file: string, content: unknown): void {
  const temporaryFile = `${file}.${randomUUID()}.part`;
  writeFileSync(temporaryFile, `${JSON.stringify(content, null, 2)}\n`, { mode: 0o600, flush: true });
  renameSync(temporaryFile, file);
}

export async function readOrCreate(file: string, create: () => Promise<unknown>): Promise<unknown> {
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch (error) {
    if (getErrorCode(error) !== "ENOENT") throw error;
    text = writeOnce(file, `${JSON.stringify(await create(), null, 2)}\n`);
  }
  return JSON.parse(text);
}
