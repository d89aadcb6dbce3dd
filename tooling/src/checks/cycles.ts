/** `pnpm check:circles`: finds import cycles of files and of folders. */
import { globSync } from "node:fs";

import { rootFolder } from "../paths.ts";
import { packageFolders } from "../remotes.ts";
import { findFolderCycles } from "./folder-cycles.ts";
import { findImportCycles, readImports } from "./import-cycles.ts";

const excludedFolders = /(^|\/)(node_modules|dist|build|assembly)$/;
const files = globSync(
  packageFolders.map((name) => `${name}/**/*.{ts,tsx}`),
  { cwd: rootFolder, exclude: (path) => excludedFolders.test(path) },
);

const imports = await readImports(rootFolder, [...new Set(files)]);
const problems = [...findImportCycles(imports), ...findFolderCycles(imports)];
for (const problem of problems) console.error(problem);
if (problems.length > 0) process.exitCode = 1;
console.log(`${String(files.length)} files, ${String(problems.length)} problems`);
