/** `pnpm check:circles`: no file imports itself in a circle. */
import { globSync } from "node:fs";

import { rootFolder } from "../paths.ts";
import { packages } from "../remotes.ts";
import { findImportCycles } from "./import-cycles.ts";

const excludedFolders = /(^|\/)(node_modules|dist|build|assembly)$/;
const files = globSync(
  packages.map((name) => `${name}/**/*.{ts,tsx}`),
  { cwd: rootFolder, exclude: (path) => excludedFolders.test(path) },
);

const problems = await findImportCycles(rootFolder, [...new Set(files)]);
for (const problem of problems) console.error(problem);
if (problems.length > 0) process.exitCode = 1;
console.log(`${String(files.length)} files, ${String(problems.length)} problems`);
