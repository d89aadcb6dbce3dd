/**
 * Which packages and remotes there are: `packages:` of pnpm-workspace.yaml is the one list of them.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";

import { RemoteName } from "@relicario/shared/contract";

import { rootFolder } from "./paths.ts";

/** Folders of the packages, in the order of the workspace. */
export function parsePackageFolders(workspace: string): readonly string[] {
  const section = /^packages:\n((?: +- .*\n|\s*(?:#.*)?\n)*)/m.exec(workspace)?.[1] ?? "";
  return [...section.matchAll(/^ +- ["']?([^"'#\s]+)/gm)].map(([, folder = ""]) => folder);
}

/**
 * Names of the remotes among those folders: what follows `remote-`. A package inside a remote's
 * folder is none. Throws for a name that cannot be one.
 */
export function parseRemoteNames(folders: readonly string[]): readonly string[] {
  const names = folders
    .filter((folder) => folder.startsWith("remote-") && !folder.includes("/"))
    .map((folder) => folder.slice("remote-".length));
  for (const name of names) {
    if (!RemoteName.safeParse(name).success)
      throw new TypeError(
        `remote-${name}: the name of a remote is up to 32 small letters and digits, a letter first, and not that of something else, such as host or api.`,
      );
  }
  return names;
}

export const packageFolders = parsePackageFolders(readFileSync(join(rootFolder, "pnpm-workspace.yaml"), "utf8"));
export const remoteNames = parseRemoteNames(packageFolders);

/**
 * Folder of the package that a file (path from the root, with `/`) belongs to, the innermost where
 * one lies in another; null outside.
 */
export function findPackageFolder(file: string): string | null {
  const containing = packageFolders.filter((folder) => file.startsWith(`${folder}/`));
  return containing.reduce<string | null>(
    (innermost, folder) => (innermost === null || folder.length > innermost.length ? folder : innermost),
    null,
  );
}
