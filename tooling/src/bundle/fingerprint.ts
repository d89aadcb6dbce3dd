import { createHash } from "node:crypto";
import { existsSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";

import { rootFolder } from "../paths.ts";
import { packages } from "../remotes.ts";
import { filesBelow } from "../release/files.ts";
import { folderOf, type Buildable } from "./packages.ts";

const everybody = [
  "pnpm-lock.yaml",
  "tsconfig.base.json",
  "shared/package.json",
  "shared/src",
  "tooling/src/bundle",
  "tooling/src/release",
];
const own = ["package.json", "tsconfig.json", "webpack.config.ts", "webpack", "manifest.json", "src", "public"];
/** Of a package inside the area, which is built with it. */
const inside = ["package.json", "webpack", "src", "assembly", "build.ts"];
const notBuilt = /\.test\.tsx?$|(^|\/)testing\//;

/** Hash over all that a package is built from: equal means that nothing has to be done. */
export function fingerprint(name: Buildable): string {
  return fingerprintOf([
    ...everybody,
    ...own.map((path) => `${folderOf(name)}/${path}`),
    ...packagesInside(folderOf(name)).flatMap((folder) => inside.map((path) => `${folder}/${path}`)),
  ]);
}

/** Hash over these files and folders, from the checkout's root; tests do not count. */
export function fingerprintOf(paths: readonly string[]): string {
  const hash = createHash("sha256");
  for (const path of paths) {
    for (const file of filesOf(path))
      hash
        .update(`${file}\0`)
        .update(readFileSync(join(rootFolder, file)))
        .update("\0");
  }
  return hash.digest("hex");
}

function packagesInside(area: string): string[] {
  return packages.filter((folder) => folder.startsWith(`${area}/`));
}

function filesOf(path: string): string[] {
  const full = join(rootFolder, path);
  if (!existsSync(full)) return [];
  if (statSync(full).isFile()) return [path];
  return filesBelow(full)
    .filter((file) => !notBuilt.test(file))
    .map((file) => `${path}/${file}`);
}
