/**
 * Builds packages once more, of the same sources in a folder of its own: what is released depends
 * on its sources alone, and whoever has them can show it.
 */
import { execFile } from "node:child_process";
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";

import { rootFolder } from "../paths.ts";
import { isEncodedForm } from "../release/compress.ts";
import { filesBelow } from "../release/files.ts";
import { integrityOfFile } from "../release/integrity.ts";
import { pnpm } from "../release/pnpm.ts";
import { folderOf, type Buildable } from "./packages.ts";

const run = promisify(execFile);
const maxBuffer = 64 * 1024 * 1024;

/**
 * The hash of each file that a build serves, by its path. Compressed forms and signatures are left
 * out: they are made of the others.
 */
export type BuiltFiles = Readonly<Record<string, string>>;

/** Hashes of the files that the packages' builds in this checkout serve. */
export function builtFiles(name: Buildable, root: string = rootFolder): BuiltFiles {
  const dist = join(root, folderOf(name), "dist");
  const folder = name === "host" ? dist : join(dist, readFileSync(join(dist, "current"), "utf8").trim());
  return Object.fromEntries(
    filesBelow(folder)
      .filter((file) => !isEncodedForm(file) && file !== "release.json")
      .map((file) => [file, integrityOfFile(join(folder, file))]),
  );
}

/**
 * Copies the sources of this checkout, as they stand, installs what the lockfile says, builds, and
 * removes all of it. Takes a minute or two.
 */
export async function rebuild(names: readonly Buildable[]): Promise<ReadonlyMap<Buildable, BuiltFiles>> {
  const folder = mkdtempSync(join(tmpdir(), "rebuild-"));
  try {
    const { stdout: sources } = await run("git", ["ls-files", "-z", "--cached", "--others", "--exclude-standard"], {
      cwd: rootFolder,
      maxBuffer,
    });
    for (const file of sources.split("\0")) {
      if (file === "" || !existsSync(join(rootFolder, file))) continue;
      mkdirSync(dirname(join(folder, file)), { recursive: true });
      copyFileSync(join(rootFolder, file), join(folder, file));
    }
    await pnpm(folder, ["install", "--frozen-lockfile", "--prefer-offline"]);
    await run(
      process.execPath,
      ["--disable-warning=ExperimentalWarning", join(folder, "tooling/src/bundle/build.ts"), ...names],
      { cwd: folder, maxBuffer },
    );
    return new Map(names.map((name) => [name, builtFiles(name, folder)]));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Which files are not the same, in words; none when both are the same bytes. */
export function differences(wanted: BuiltFiles, found: BuiltFiles): string[] {
  const paths = [...new Set([...Object.keys(wanted), ...Object.keys(found)])].sort();
  return paths
    .filter((path) => wanted[path] !== found[path])
    .map(
      (path) =>
        `${path} ${wanted[path] === undefined ? "is new" : found[path] === undefined ? "was not built" : "differs"}`,
    );
}
