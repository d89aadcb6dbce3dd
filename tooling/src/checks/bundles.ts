/**
 * `pnpm check:bundles`: what may be in which bundle, looked for in the files that browsers get.
 * Needs `pnpm build`.
 */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";

import { z } from "zod";

import { buildables, getPackageFolder, type Buildable } from "../bundle/packages.ts";
import { hashBuiltFiles } from "../bundle/rebuild.ts";
import { rootFolder } from "../paths.ts";
import { billOfMaterialsFile } from "../release/bill-of-materials.ts";
import { listFiles } from "../release/files.ts";
import { findBundleProblems } from "./bundle-contents.ts";

const BillOfMaterials = z.object({
  metadata: z.object({ component: z.object({ name: z.string() }) }),
  components: z.array(z.object({ name: z.string() })),
});

const SourceMap = z.object({ sources: z.array(z.string()) });

const problems: string[] = [];
for (const name of buildables) {
  const web = join(rootFolder, getPackageFolder(name), "build/web");
  if (!existsSync(web)) {
    problems.push(`${name} is not built: run pnpm build first.`);
    continue;
  }
  problems.push(...findBillProblems(name));
  const scripts = listFiles(web).filter((file) => file.endsWith(".js"));
  const wasm = listFiles(web).filter((file) => file.endsWith(".wasm"));
  const sources = listFiles(web).flatMap((file) =>
    file.endsWith(".js.map") ? SourceMap.parse(JSON.parse(readFileSync(join(web, file), "utf8"))).sources : [],
  );
  problems.push(
    ...findBundleProblems({
      name,
      scripts: scripts.map((file) => ({ file, text: readFileSync(join(web, file), "utf8") })),
      wasm,
      sources,
    }),
  );
}

/** What is released says what it is made of: its own package, and what all of them share. */
function findBillProblems(name: Buildable): string[] {
  const [path] = Object.keys(hashBuiltFiles(name)).filter((file) => file === billOfMaterialsFile);
  if (path === undefined) return [`${name} carries no bill of materials.`];
  const { metadata, components } = BillOfMaterials.parse(
    JSON.parse(readFileSync(join(rootFolder, getPackageFolder(name), "build", billOfMaterialsFile), "utf8")),
  );
  const missingTexts = ["react", "zod"].filter(
    (required) => !components.some((component) => component.name === required),
  );
  if (metadata.component.name !== getPackageFolder(name)) missingTexts.push(getPackageFolder(name));
  return missingTexts.map((required) => `The bill of materials of ${name} does not name ${required}.`);
}

for (const problem of problems) console.error(problem);
if (problems.length > 0) process.exitCode = 1;
console.log(`${String(buildables.length)} bundles, ${String(problems.length)} problems`);
