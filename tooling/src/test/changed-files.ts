import { existsSync } from "node:fs";
import { dirname, join } from "node:path";

import { rootFolder } from "../paths.ts";
import { listJestFiles } from "./jest.ts";
import { run } from "./run.ts";

const codeFiles = /\.(ts|tsx|mjs|cjs)$/;

/** Lists changed files, untracked ones too, without deleted ones. */
export async function listChangedFiles(since: string): Promise<string[]> {
  const changedLists = await Promise.all([
    git(["diff", "-z", "--name-only", "--diff-filter=d", since]),
    git(["ls-files", "-z", "--others", "--exclude-standard"]),
  ]);
  return changedLists.flat();
}

/** Lists all files of the checkout without ignored ones. */
export async function listCheckoutFiles(): Promise<string[]> {
  const files = await git(["ls-files", "-z", "--cached", "--others", "--exclude-standard"]);
  return files.filter((file) => existsSync(join(rootFolder, file)));
}

/** Merge base with the main branch; `HEAD` when there is none. */
export async function findBranchPoint(): Promise<string> {
  for (const mainRef of ["origin/HEAD", "origin/main", "main"]) {
    const { code: exitCode, output } = await run("git", ["merge-base", "HEAD", mainRef]);
    if (exitCode === 0) return output.trim();
  }
  return "HEAD";
}

/**
 * Finds the tests that import a changed file directly or indirectly; those of the same folders come
 * first.
 */
export async function findRelatedUnits(changed: readonly string[]): Promise<string[]> {
  const sources = changed.filter((file) => codeFiles.test(file));
  if (sources.length === 0) return [];
  const folders = new Set(sources.map((file) => dirname(file)));
  const relatedFiles = (await listJestFiles(["--findRelatedTests", ...sources])).sort();
  return [
    ...relatedFiles.filter((file) => folders.has(dirname(file))),
    ...relatedFiles.filter((file) => !folders.has(dirname(file))),
  ];
}

async function git(args: readonly string[]): Promise<string[]> {
  const { code: exitCode, output } = await run("git", args);
  if (exitCode !== 0) throw new Error(output.trim());
  return output.split("\0").filter((file) => file !== "");
}
