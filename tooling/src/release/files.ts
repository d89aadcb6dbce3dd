import { readdirSync } from "node:fs";
import { join, relative, sep } from "node:path";

/** Relative paths with `/`, in the order of code units. */
export function listFiles(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)).split(sep).join("/"))
    .sort((a, b) => (a < b ? -1 : 1));
}
