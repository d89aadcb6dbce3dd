import { readdirSync, type Dirent } from "node:fs";
import { join, relative, sep } from "node:path";

/** Relative paths with `/`, in the order of code units. */
export function listFiles(folder: string): string[] {
  return listEntries(folder, (entry) => entry.isFile());
}

/** Links, devices and whatever else is neither file nor folder, as {@link listFiles}. */
export function listOtherEntries(folder: string): string[] {
  return listEntries(folder, (entry) => !entry.isFile() && !entry.isDirectory());
}

function listEntries(folder: string, matches: (entry: Dirent) => boolean): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter(matches)
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)).split(sep).join("/"))
    .sort((a, b) => (a < b ? -1 : 1));
}
