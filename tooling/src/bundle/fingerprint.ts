import { createHash } from "node:crypto";
import { existsSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";

import { rootFolder } from "../paths.ts";
import { packageFolders } from "../remotes.ts";
import { listFiles } from "../release/files.ts";
import { getPackageFolder, type BuildTarget } from "./packages.ts";

const commonInputs = [
  "pnpm-lock.yaml",
  "tsconfig.base.json",
  "shared/package.json",
  "shared/src",
  "tooling/src/bundle",
  "tooling/src/release",
];
const packageInputs = [
  "package.json",
  "tsconfig.json",
  "webpack.config.ts",
  "webpack",
  "manifest.json",
  "src",
  "public",
];
/** Inputs of a nested package, which is built with its area. */
const nestedPackageInputs = ["package.json", "webpack", "src", "assembly", "build.ts"];
const excludedFiles = /\.test\.tsx?$|(^|\/)testing\//;

/** Hash of all inputs of a build. */
export function computeFingerprint(name: BuildTarget): string {
  return hashSources([
    ...commonInputs,
    ...packageInputs.map((path) => `${getPackageFolder(name)}/${path}`),
    ...listNestedPackages(getPackageFolder(name)).flatMap((folder) =>
      nestedPackageInputs.map((path) => `${folder}/${path}`),
    ),
  ]);
}

/** Hash of files and folders (paths from the root), without tests. */
export function hashSources(paths: readonly string[]): string {
  const hash = createHash("sha256");
  for (const path of paths) {
    for (const file of listInputFiles(path))
      hash
        .update(`${file}\0`)
        .update(readFileSync(join(rootFolder, file)))
        .update("\0");
  }
  return hash.digest("hex");
}

function listNestedPackages(area: string): string[] {
  return packageFolders.filter((folder) => folder.startsWith(`${area}/`));
}

function listInputFiles(path: string): string[] {
  const absolutePath = join(rootFolder, path);
  if (!existsSync(absolutePath)) return [];
  if (statSync(absolutePath).isFile()) return [path];
  return listFiles(absolutePath)
    .filter((file) => !excludedFiles.test(file))
    .map((file) => `${path}/${file}`);
}
