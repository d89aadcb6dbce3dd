/** `pnpm check:versions`: every version stands once, in the catalog, and no package that it names is installed twice. */
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";

import { z } from "zod";

import { codeOf } from "../error-code.ts";
import { rootFolder } from "../paths.ts";
import { problemsOfVersions } from "./version-drift.ts";

const Dependencies = z.record(z.string(), z.string()).default({});
const Manifest = z.object({ name: z.string(), dependencies: Dependencies, devDependencies: Dependencies, optionalDependencies: Dependencies, peerDependencies: Dependencies });

const folders = readdirSync(rootFolder, { withFileTypes: true }).filter((entry) => entry.isDirectory()).map(({ name }) => name);
const manifests = [".", ...folders].flatMap((folder) => {
  try {
    return [Manifest.parse(JSON.parse(readFileSync(join(rootFolder, folder, "package.json"), "utf8")))];
  } catch (error) {
    if (codeOf(error) === "ENOENT") return []; // a folder without a package
    throw error;
  }
});
const problems = problemsOfVersions({
  manifests,
  workspace: readFileSync(join(rootFolder, "pnpm-workspace.yaml"), "utf8"),
  lockfile: readFileSync(join(rootFolder, "pnpm-lock.yaml"), "utf8"),
});

for (const problem of problems) console.error(problem);
if (problems.length > 0) process.exitCode = 1;
console.log(`${String(manifests.length)} packages, ${String(problems.length)} problems`);
