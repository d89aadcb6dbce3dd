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
import { isPrecompressed } from "../release/compress.ts";
import { listFiles } from "../release/files.ts";
import { computeFileIntegrity } from "../release/integrity.ts";
import { runPnpm } from "../release/pnpm.ts";
import { getPackageFolder, type Buildable } from "./packages.ts";

const execFileAsync = promisify(execFile);
const maxBuffer = 64 * 1024 * 1024;

/**
 * The hash of each file that a build serves, by its path. Compressed forms and signatures are left
 * out: they are made of the others.
 */
export type BuiltFiles = Readonly<Record<string, string>>;

/** Hashes of the files that the packages' builds in this checkout serve. */
export function hashBuiltFiles(name: Buildable, root: string = rootFolder): BuiltFiles {
  const dist = join(root, getPackageFolder(name), "dist");
  const folder = name === "host" ? dist : join(dist, readFileSync(join(dist, "current"), "utf8").trim());
  return Object.fromEntries(
    listFiles(folder)
      .filter((file) => !isPrecompressed(file) && file !== "release.json")
      .map((file) => [file, computeFileIntegrity(join(folder, file))]),
  );
}

/**
 * Copies the sources of this checkout, as they stand, installs what the lockfile says, builds, and
 * removes all of it. Takes a minute or two.
 */
export async function rebuild(names: readonly Buildable[]): Promise<ReadonlyMap<Buildable, BuiltFiles>> {
  const folder = mkdtempSync(join(tmpdir(), "rebuild-"));
  try {
    const { stdout: sources } = await execFileAsync(
      "git",
      ["ls-files", "-z", "--cached", "--others", "--exclude-standard"],
      {
        cwd: rootFolder,
        maxBuffer,
      },
    );
    for (const file of sources.split("\0")) {
      if (file === "" || !existsSync(join(rootFolder, file))) continue;
      mkdirSync(dirname(join(folder, file)), { recursive: true });
      copyFileSync(join(rootFolder, file), join(folder, file));
    }
    await runPnpm(folder, ["install", "--frozen-lockfile", "--prefer-offline"]);
    await execFileAsync(
      process.execPath,
      ["--disable-warning=ExperimentalWarning", join(folder, "tooling/src/bundle/build.ts"), ...names],
      { cwd: folder, maxBuffer },
    );
    return new Map(names.map((name) => [name, hashBuiltFiles(name, folder)]));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Which files are not the same, in words; none when both are the same bytes. */
export function describeDifferences(expected: BuiltFiles, actual: BuiltFiles): string[] {
  const paths = [...new Set([...Object.keys(expected), ...Object.keys(actual)])].sort();
  return paths
    .filter((path) => expected[path] !== actual[path])
    .map(
      (path) =>
        `${path} ${expected[path] === undefined ? "is new" : actual[path] === undefined ? "was not built" : "differs"}`,
    );
}
