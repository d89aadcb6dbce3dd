/** `pnpm check:circles`: no file and no folder imports itself in a circle. */
import { globSync } from "node:fs";

import { rootFolder } from "../paths.ts";
import { packages } from "../remotes.ts";
import { findFolderCycles } from "./folder-cycles.ts";
import { findImportCycles, readImports } from "./import-cycles.ts";

const excludedFolders = /(^|\/)(node_modules|dist|build|assembly)$/;
const files = globSync(
  packages.map((name) => `${name}/**/*.{ts,tsx}`),
  { cwd: rootFolder, exclude: (path) => excludedFolders.test(path) },
);

/** Where folders still are in circles; each leaves the list with its last one. */
const pendingFolders = ["remote-recovery/vault/src"];

const imports = await readImports(rootFolder, [...new Set(files)]);
const folderCycles = findFolderCycles(imports);
const isIn = (folder: string, problem: string): boolean => /^[^:]*/.exec(problem)?.[0].startsWith(folder) === true;
const problems = [
  ...findImportCycles(imports),
  ...folderCycles.filter((problem) => !pendingFolders.some((folder) => isIn(folder, problem))),
  ...pendingFolders
    .filter((folder) => !folderCycles.some((problem) => isIn(folder, problem)))
    .map((folder) => `${folder} has no circle of folders left: take it off the list in tooling/src/checks/cycles.ts.`),
];
for (const problem of problems) console.error(problem);
if (problems.length > 0) process.exitCode = 1;
console.log(`${String(files.length)} files, ${String(problems.length)} problems`);
