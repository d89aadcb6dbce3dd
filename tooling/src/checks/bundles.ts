/**
 * `pnpm check:bundles`: what may be in which bundle, looked for in the files that browsers get.
 * Needs `pnpm build`.
 */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";

import { z } from "zod";

import { buildables, folderOf, type Buildable } from "../bundle/packages.ts";
import { builtFiles } from "../bundle/rebuild.ts";
import { rootFolder } from "../paths.ts";
import { billOfMaterials } from "../release/bill-of-materials.ts";
import { filesBelow } from "../release/files.ts";
import { problemsOfBundle } from "./bundle-contents.ts";

const Bill = z.object({
  metadata: z.object({ component: z.object({ name: z.string() }) }),
  components: z.array(z.object({ name: z.string() })),
});

const SourceMap = z.object({ sources: z.array(z.string()) });

const problems: string[] = [];
for (const name of buildables) {
  const web = join(rootFolder, folderOf(name), "build/web");
  if (!existsSync(web)) {
    problems.push(`${name} is not built: run pnpm build first.`);
    continue;
  }
  problems.push(...problemsOfBill(name));
  const scripts = filesBelow(web).filter((file) => file.endsWith(".js"));
  const wasm = filesBelow(web).filter((file) => file.endsWith(".wasm"));
  const sources = filesBelow(web).flatMap((file) =>
    file.endsWith(".js.map") ? SourceMap.parse(JSON.parse(readFileSync(join(web, file), "utf8"))).sources : [],
  );
  problems.push(
    ...problemsOfBundle({
      name,
      scripts: scripts.map((file) => ({ file, text: readFileSync(join(web, file), "utf8") })),
      wasm,
      sources,
    }),
  );
}

/** What is released says what it is made of: its own package, and what all of them share. */
function problemsOfBill(name: Buildable): string[] {
  const [path] = Object.keys(builtFiles(name)).filter((file) => file === billOfMaterials);
  if (path === undefined) return [`${name} carries no bill of materials.`];
  const { metadata, components } = Bill.parse(
    JSON.parse(readFileSync(join(rootFolder, folderOf(name), "build", billOfMaterials), "utf8")),
  );
  const lacking = ["react", "zod"].filter((wanted) => !components.some((component) => component.name === wanted));
  if (metadata.component.name !== folderOf(name)) lacking.push(folderOf(name));
  return lacking.map((wanted) => `The bill of materials of ${name} does not name ${wanted}.`);
}

for (const problem of problems) console.error(problem);
if (problems.length > 0) process.exitCode = 1;
console.log(`${String(buildables.length)} bundles, ${String(problems.length)} problems`);
