/**
 * Compares (`pnpm check:surface`) or writes (`pnpm surface`) the names that the host shares, in
 * shared/src/webpack/surface.json. Webpack reads the exports, so resolution is that of the builds.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";

import { baseConfig, unstableNames } from "@relicario/shared/webpack";
import webpack from "webpack";
import { z } from "zod";

import { rootFolder } from "../paths.ts";
import { findFloor, findSurfaceProblems, type ExportedModule } from "./surface-problems.ts";

/** Adding a module is a minor version of the contract. */
const sharedModuleNames = [
  "react",
  "react/jsx-runtime",
  "react-dom",
  "react-dom/client",
  "react-router",
  "react-router-dom",
  "@tanstack/react-query",
  "i18next",
  "react-i18next",
  "styled-components",
  "framer-motion",
  "zod",
  ...["contract", "api", "errors", "i18n", "ui", "forms"].map((entryPoint) => `@relicario/shared/${entryPoint}`),
];
const hostFolder = join(rootFolder, "host");
/** Replaces react-router-dom in the host's build. */
const reExports = join(hostFolder, "src/shared-packages/react-router-dom.ts");
const surfacePath = join(rootFolder, "shared/src/webpack/surface.json");

async function readExports(names: readonly string[]): Promise<Readonly<Record<string, readonly string[]>>> {
  const source = names
    .map((name, index) => `import * as n${String(index)} from ${JSON.stringify(name)}; console.log(n${String(index)});`)
    .join("\n");
  const config = baseConfig({ name: "surface", context: hostFolder, mode: "production" });
  const compiler = webpack({
    ...config,
    optimization: { ...config.optimization, minimize: false, concatenateModules: false }, // the output is never run
    cache: false,
    entry: `data:text/javascript,${encodeURIComponent(source)}`,
  });
  return new Promise((resolve, reject) => {
    const exportsByModule: Record<string, readonly string[]> = {};
    compiler.hooks.thisCompilation.tap("surface", (compilation) => {
      compilation.hooks.finishModules.tap({ name: "surface", stage: 1000 }, () => {
        const [entry] = compilation.entries.get("main")?.dependencies ?? [];
        const root = entry === undefined ? null : compilation.moduleGraph.getModule(entry);
        for (const connection of root === null ? [] : compilation.moduleGraph.getOutgoingConnections(root)) {
          if (!(connection.dependency instanceof webpack.dependencies.ModuleDependency)) continue;
          const { request } = connection.dependency;
          const provided = compilation.moduleGraph.getProvidedExports(connection.module);
          exportsByModule[request] = Array.isArray(provided) ? provided.toSorted() : readCommonJsExports(request);
        }
      });
    });
    compiler.run((error, stats) => {
      compiler.close(() => {
        if (error !== null) reject(error);
        else if (stats?.hasErrors() === true) reject(new Error(stats.toString("errors-only")));
        else resolve(exportsByModule);
      });
    });
  });
}

/** CommonJS, such as React: exports are known only at run time. */
function readCommonJsExports(name: string): string[] {
  const module: unknown = createRequire(join(hostFolder, "package.json"))(name);
  if (typeof module !== "object" || module === null) throw new TypeError(`${name} exports nothing`);
  return [...Object.keys(module), "default"].toSorted();
}

function readVersion(name: string): string {
  const [packageName = name] = /^(?:@[^/]+\/)?[^/]+/.exec(name) ?? [];
  const folder =
    packageName === "@relicario/shared" ? join(rootFolder, "shared") : join(hostFolder, "node_modules", packageName);
  return z.object({ version: z.string() }).parse(JSON.parse(readFileSync(join(folder, "package.json"), "utf8")))
    .version;
}

const SurfaceFile = z.record(
  z.string(),
  z.object({
    version: z.string(),
    floor: z.string(),
    exports: z.array(z.string()),
    withheld: z.record(z.string(), z.string()).optional(),
  }),
);

const listedSurface = SurfaceFile.parse(JSON.parse(readFileSync(surfacePath, "utf8")));
const { [reExports]: reExportedNames = [], ...exportsByModule } = await readExports([...sharedModuleNames, reExports]);
const exportedModules: Readonly<Record<string, ExportedModule>> = Object.fromEntries(
  sharedModuleNames.map((name) => [
    name,
    {
      version: readVersion(name),
      exports: (exportsByModule[name] ?? []).filter((exportName) => !unstableNames.test(exportName)),
    },
  ]),
);
if (process.argv.includes("--write")) {
  const entries = Object.entries(exportedModules).map(([name, { version, exports }]) => {
    const withheld = Object.entries(listedSurface[name]?.withheld ?? {}).filter(([exportName]) =>
      exports.includes(exportName.split(".", 1).join("")),
    );
    const floor = findFloor(listedSurface[name], { version, exports });
    const exposed = exports.filter((exportName) => !withheld.some(([withheldName]) => withheldName === exportName));
    return [
      name,
      { version, floor, exports: exposed, ...(withheld.length > 0 && { withheld: Object.fromEntries(withheld) }) },
    ];
  });
  writeFileSync(surfacePath, `${JSON.stringify(Object.fromEntries(entries), null, 2)}\n`);
} else {
  const problems = findSurfaceProblems(listedSurface, exportedModules);
  const missingReExports =
    exportedModules["react-router-dom"]?.exports.filter((name) => !reExportedNames.includes(name)) ?? [];
  if (missingReExports.length > 0) problems.push(`${reExports} lacks ${missingReExports.join(", ")}.`);
  for (const problem of problems) console.error(problem);
  if (problems.length > 0) {
    console.error(
      "`pnpm surface` rewrites the list. A new name is a minor version of the contract, a lost name a major one.",
    );
    process.exitCode = 1;
  }
}
