/** Packages and remotes of the workspace, listed only in `packages:` of pnpm-workspace.yaml. */
import { readFileSync } from "node:fs";
import { join } from "node:path";

import { RemoteName } from "@relicario/shared/contract";

import { rootFolder } from "./paths.ts";

export function parsePackageFolders(workspace: string): readonly string[] {
  const section = /^packages:\n((?: +- .*\n|\s*(?:#.*)?\n)*)/m.exec(workspace)?.[1] ?? "";
  return [...section.matchAll(/^ +- ["']?([^"'#\s]+)/gm)].map(([, folder = ""]) => folder);
}

/**
 * What follows `remote-`. Nested packages are no remotes.
 *
 * @throws TypeError for an invalid name
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

/** Innermost package that contains a file (path from the root); null when none does. */
export function findPackageFolder(file: string): string | null {
  const containing = packageFolders.filter((folder) => file.startsWith(`${folder}/`));
  return containing.reduce<string | null>(
    (innermost, folder) => (innermost === null || folder.length > innermost.length ? folder : innermost),
    null,
  );
}
