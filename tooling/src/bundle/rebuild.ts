/** Rebuilds packages in another folder, to show that builds are reproducible. */
import { execFile } from "node:child_process";
import { cpSync, lstatSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

import { rootFolder } from "../paths.ts";
import { isPrecompressed } from "../release/compress.ts";
import { listFiles } from "../release/files.ts";
import { computeFileIntegrity } from "../release/integrity.ts";
import { runPnpm } from "../release/pnpm.ts";
import { getPackageFolder, type BuildTarget } from "./packages.ts";

const execFileAsync = promisify(execFile);
const maxBuffer = 64 * 1024 * 1024;

/**
 * Integrity hashes by path, without compressed forms and signatures, which derive from the others.
 */
export type FileHashes = Readonly<Record<string, string>>;

/** Hashes the served files of a build in the checkout `root`. */
export function hashBuiltFiles(name: BuildTarget, root: string = rootFolder): FileHashes {
  const dist = join(root, getPackageFolder(name), "dist");
  const folder = name === "host" ? dist : join(dist, readFileSync(join(dist, "current"), "utf8").trim());
  return Object.fromEntries(
    listFiles(folder)
      .filter((file) => !isPrecompressed(file) && file !== "release.json")
      .map((file) => [file, computeFileIntegrity(join(folder, file))]),
  );
}

/** Copies the sources to a folder: what Git tracks or would add, links as links. */
export async function copySources(source: string, folder: string): Promise<void> {
  const { stdout } = await execFileAsync("git", ["ls-files", "-z", "--cached", "--others", "--exclude-standard"], {
    cwd: source,
    maxBuffer,
  });
  for (const file of stdout.split("\0")) {
    const isPresent = lstatSync(join(source, file), { throwIfNoEntry: false }) !== undefined;
    if (file === "" || file.endsWith("/") || !isPresent) continue; // Git lists another repository as a folder
    // `recursive` is for links to folders, which are copied as links
    cpSync(join(source, file), join(folder, file), { recursive: true, verbatimSymlinks: true });
  }
}

/**
 * Builds a copy of the sources, uncommitted changes included, in a temporary folder. Takes a
 * minute or two.
 */
export async function rebuild(names: readonly BuildTarget[]): Promise<ReadonlyMap<BuildTarget, FileHashes>> {
  const folder = mkdtempSync(join(tmpdir(), "rebuild-"));
  try {
    await copySources(rootFolder, folder);
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

/** One sentence for each file that differs. */
export function describeDifferences(expected: FileHashes, actual: FileHashes): string[] {
  const paths = [...new Set([...Object.keys(expected), ...Object.keys(actual)])].sort();
  return paths
    .filter((path) => expected[path] !== actual[path])
    .map(
      (path) =>
        `${path} ${expected[path] === undefined ? "is new" : actual[path] === undefined ? "was not built" : "differs"}`,
    );
}
