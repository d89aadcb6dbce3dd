import { existsSync } from "node:fs";
import { dirname, join } from "node:path";

import { rootFolder } from "../paths.ts";
import { listJestFiles } from "./jest.ts";
import { run } from "./run.ts";

const codeFiles = /\.(ts|tsx|mjs|cjs)$/;

/**
 * Files that differ from a commit, those that git does not know among them; deleted ones are left
 * out.
 *
 * @throws Error when git knows no such commit
 */
export async function listChangedFiles(since: string): Promise<string[]> {
  const changed = await Promise.all([
    git(["diff", "-z", "--name-only", "--diff-filter=d", since]),
    git(["ls-files", "-z", "--others", "--exclude-standard"]),
  ]);
  return changed.flat();
}

/** All files of the checkout that git knows or would take. */
export async function listCheckoutFiles(): Promise<string[]> {
  const files = await git(["ls-files", "-z", "--cached", "--others", "--exclude-standard"]);
  return files.filter((file) => existsSync(join(rootFolder, file)));
}

/** Where this branch left the main one; on the main one its last commit. */
export async function findBranchPoint(): Promise<string> {
  for (const mainRef of ["origin/HEAD", "origin/main", "main"]) {
    const { code: exitCode, output } = await run("git", ["merge-base", "HEAD", mainRef]);
    if (exitCode === 0) return output.trim();
  }
  return "HEAD";
}

/**
 * Unit files that import any of these files, directly or through others; those in the same folder
 * as one of them come first.
 */
export async function findRelatedUnits(changed: readonly string[]): Promise<string[]> {
  const sources = changed.filter((file) => codeFiles.test(file));
  if (sources.length === 0) return [];
  const folders = new Set(sources.map((file) => dirname(file)));
  const related = (await listJestFiles(["--findRelatedTests", ...sources])).sort();
  return [
    ...related.filter((file) => folders.has(dirname(file))),
    ...related.filter((file) => !folders.has(dirname(file))),
  ];
}

async function git(args: readonly string[]): Promise<string[]> {
  const { code: exitCode, output } = await run("git", args);
  if (exitCode !== 0) throw new Error(output.trim());
  return output.split("\0").filter((file) => file !== "");
}
