/** `pnpm check:bundles`: checks which code is in which built bundle. Needs `pnpm build`. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";

import { z } from "zod";

import { buildTargets, getPackageFolder, type BuildTarget } from "../bundle/packages.ts";
import { hashBuiltFiles } from "../bundle/rebuild.ts";
import { rootFolder } from "../paths.ts";
import { billOfMaterialsFile } from "../release/bill-of-materials.ts";
import { listFiles } from "../release/files.ts";
import { findBundleProblems } from "./bundle-contents.ts";

const BillOfMaterials = z.object({
  metadata: z.object({ component: z.object({ name: z.string() }) }),
  components: z.array(z.object({ name: z.string() })),
});

const FederationManifest = z.object({ shared: z.array(z.object({ name: z.string() })) });

const SourceMap = z.object({ sources: z.array(z.string()) });

const problems: string[] = [];
for (const name of buildTargets) {
  const web = join(rootFolder, getPackageFolder(name), "build/web");
  if (!existsSync(web)) {
    problems.push(`${name} is not built: run pnpm build first.`);
    continue;
  }
  problems.push(...findBillProblems(name), ...(name === "host" ? [] : findManifestProblems(name, web)));
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

/**
 * Checks a bill of materials, which must name the package itself and the packages that all of them
 * use.
 */
function findBillProblems(name: BuildTarget): string[] {
  const [path] = Object.keys(hashBuiltFiles(name)).filter((file) => file === billOfMaterialsFile);
  if (path === undefined) return [`${name} carries no bill of materials.`];
  const { metadata, components } = BillOfMaterials.parse(
    JSON.parse(readFileSync(join(rootFolder, getPackageFolder(name), "build", billOfMaterialsFile), "utf8")),
  );
  const missingNames = ["react", "zod"].filter(
    (required) => !components.some((component) => component.name === required),
  );
  if (metadata.component.name !== getPackageFolder(name)) missingNames.push(getPackageFolder(name));
  return missingNames.map((required) => `The bill of materials of ${name} does not name ${required}.`);
}

/**
 * Checks that a remote declares its shared packages, so that the host can refuse it before its code
 * runs.
 */
function findManifestProblems(name: BuildTarget, web: string): string[] {
  const { shared } = FederationManifest.parse(JSON.parse(readFileSync(join(web, "mf-manifest.json"), "utf8")));
  return shared.some((module) => module.name === "react") ? [] : [`${name} does not say which react it needs.`];
}

for (const problem of problems) console.error(problem);
if (problems.length > 0) process.exitCode = 1;
console.log(`${String(buildTargets.length)} bundles, ${String(problems.length)} problems`);
