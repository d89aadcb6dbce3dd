/**
 * `pnpm check:links`: finds dead relative links of Markdown, and citations of missing decisions.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";

import { rootFolder } from "../paths.ts";
import { listCheckoutFiles } from "../test/changed-files.ts";
import { findDeadLinks } from "./dead-links.ts";

const paths = await listCheckoutFiles();
const files = paths
  .filter((path) => /\.(md|[cm]?[jt]sx?|ya?ml|css|html)$|(^|\/)Dockerfile$/.test(path))
  .map((path) => ({ path, text: readFileSync(join(rootFolder, path), "utf8") }));
const problems = findDeadLinks(files, paths);

for (const problem of problems) console.error(problem);
if (problems.length > 0) process.exitCode = 1;
console.log(`${String(files.length)} files, ${String(problems.length)} dead links`);
