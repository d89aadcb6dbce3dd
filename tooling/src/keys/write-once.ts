import { randomUUID } from "node:crypto";
import { linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";

import { getErrorCode } from "../error-code.ts";

/**
 * Writes a private file (0600) unless it is there already; returns what then stands in it. Never
 * leaves half a file.
 */
export function writeOnce(file: string, text: string): string {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  const temporaryFile = `${file}.${randomUUID()}.part`;
  writeFileSync(temporaryFile, text, { mode: 0o600 });
  try {
    linkSync(temporaryFile, file);
  } catch (error) {
    // Somebody else was first: theirs counts.
    if (getErrorCode(error) !== "EEXIST") throw error;
  } finally {
    rmSync(temporaryFile, { force: true });
  }
  return readFileSync(file, "utf8");
}

/** What a private file holds, made by `create` the first time. */
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
