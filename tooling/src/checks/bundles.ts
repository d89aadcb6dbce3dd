/** `pnpm check:bundles`: what may be in which bundle, looked for in the files that browsers get. Needs `pnpm build`. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";

import { buildables, folderOf } from "../bundle/packages.ts";
import { rootFolder } from "../paths.ts";
import { filesBelow } from "../release/files.ts";
import { problemsOfBundle } from "./bundle-contents.ts";

const problems: string[] = [];
for (const name of buildables) {
  const web = join(rootFolder, folderOf(name), "build/web");
  if (!existsSync(web)) {
    problems.push(`${name} is not built: run pnpm build first.`);
    continue;
  }
  const scripts = filesBelow(web).filter((file) => file.endsWith(".js"));
  const wasm = filesBelow(web).filter((file) => file.endsWith(".wasm"));
  problems.push(...problemsOfBundle({ name, scripts: scripts.map((file) => ({ file, text: readFileSync(join(web, file), "utf8") })), wasm }));
}

for (const problem of problems) console.error(problem);
if (problems.length > 0) process.exitCode = 1;
console.log(`${String(buildables.length)} bundles, ${String(problems.length)} problems`);
