/**
 * `pnpm check:versions`: checks that only the catalog has versions, and that no package in it is
 * installed twice.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";

import { z } from "zod";

import { rootFolder } from "../paths.ts";
import { packageFolders } from "../remotes.ts";
import { findVersionProblems } from "./version-drift.ts";

const Dependencies = z.record(z.string(), z.string()).default({});
const PackageManifest = z.object({
  name: z.string(),
  dependencies: Dependencies,
  devDependencies: Dependencies,
  optionalDependencies: Dependencies,
  peerDependencies: Dependencies,
});

const manifests = [".", ...packageFolders].map((folder) =>
  PackageManifest.parse(JSON.parse(readFileSync(join(rootFolder, folder, "package.json"), "utf8"))),
);
const problems = findVersionProblems({
  manifests,
  workspace: readFileSync(join(rootFolder, "pnpm-workspace.yaml"), "utf8"),
  lockfile: readFileSync(join(rootFolder, "pnpm-lock.yaml"), "utf8"),
});

for (const problem of problems) console.error(problem);
if (problems.length > 0) process.exitCode = 1;
console.log(`${String(manifests.length)} packages, ${String(problems.length)} problems`);
