import { existsSync } from "node:fs";
import { dirname, join } from "node:path";

import { rootFolder } from "../paths.ts";
import { jestFiles } from "./jest.ts";
import { run } from "./run.ts";

const code = /\.(ts|tsx|mjs|cjs)$/;

/**
 * Files that differ from a commit, those that git does not know among them; deleted ones are left
 * out.
 *
 * @throws Error when git knows no such commit
 */
export async function changedFiles(since: string): Promise<string[]> {
  const changed = await Promise.all([
    git(["diff", "-z", "--name-only", "--diff-filter=d", since]),
    git(["ls-files", "-z", "--others", "--exclude-standard"]),
  ]);
  return changed.flat();
}

/** All files of the checkout that git knows or would take. */
export async function checkoutFiles(): Promise<string[]> {
  const files = await git(["ls-files", "-z", "--cached", "--others", "--exclude-standard"]);
  return files.filter((file) => existsSync(join(rootFolder, file)));
}

/** Where this branch left the main one; on the main one its last commit. */
export async function branchPoint(): Promise<string> {
  for (const main of ["origin/HEAD", "origin/main", "main"]) {
    const { code: exit, said } = await run("git", ["merge-base", "HEAD", main]);
    if (exit === 0) return said.trim();
  }
  return "HEAD";
}

/**
 * Unit files that import any of these files, directly or through others; those in the same folder
 * as one of them come first.
 */
export async function relatedUnits(changed: readonly string[]): Promise<string[]> {
  const sources = changed.filter((file) => code.test(file));
  if (sources.length === 0) return [];
  const folders = new Set(sources.map((file) => dirname(file)));
  const related = (await jestFiles(["--findRelatedTests", ...sources])).sort();
  return [
    ...related.filter((file) => folders.has(dirname(file))),
    ...related.filter((file) => !folders.has(dirname(file))),
  ];
}

async function git(args: readonly string[]): Promise<string[]> {
  const { code: exit, said } = await run("git", args);
  if (exit !== 0) throw new Error(said.trim());
  return said.split("\0").filter((file) => file !== "");
}
