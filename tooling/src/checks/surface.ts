/**
 * The names that the host gives of each shared module, as the modules themselves export them: `pnpm
 * check:surface` compares, `pnpm surface` writes `shared/src/webpack/surface.json` and the
 * re-exports of the host. Read by webpack, with the resolution that the builds have.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";

import { baseConfig } from "@relicario/shared/webpack";
import webpack from "webpack";
import { z } from "zod";

import { rootFolder } from "../paths.ts";
import { findSurfaceProblems, type Surface } from "./surface-problems.ts";

/** What the host's build gives in the form of plain re-exports. */
const reExportsFolder = join(rootFolder, "host/src/shared-packages");

/** Every module that host and remotes share. A new one is a new minor version of the contract. */
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
/** Read for the re-exports of zod, and not shared. */
const internalModules = ["zod/v4/core"];
const hostFolder = join(rootFolder, "host");
const surfacePath = join(rootFolder, "shared/src/webpack/surface.json");

/** What each module exports, before anything is withheld. */
async function readExports(): Promise<Surface> {
  const requestedNames = [...sharedModuleNames, ...internalModules];
  const source = requestedNames
    .map((name, index) => `import * as n${String(index)} from ${JSON.stringify(name)}; console.log(n${String(index)});`)
    .join("\n");
  const config = baseConfig({ name: "surface", context: hostFolder, mode: "production" });
  const compiler = webpack({
    ...config,
    optimization: { ...config.optimization, minimize: false, concatenateModules: false }, // nobody runs what comes out
    cache: false,
    entry: `data:text/javascript,${encodeURIComponent(source)}`,
  });
  return new Promise((resolve, reject) => {
    const exportsByModule: Record<string, Surface[string]> = {};
    compiler.hooks.thisCompilation.tap("surface", (compilation) => {
      compilation.hooks.finishModules.tap({ name: "surface", stage: 1000 }, () => {
        const [entry] = compilation.entries.get("main")?.dependencies ?? [];
        const root = entry === undefined ? null : compilation.moduleGraph.getModule(entry);
        for (const connection of root === null ? [] : compilation.moduleGraph.getOutgoingConnections(root)) {
          if (!(connection.dependency instanceof webpack.dependencies.ModuleDependency)) continue;
          const { request } = connection.dependency;
          const provided = compilation.moduleGraph.getProvidedExports(connection.module);
          if (Array.isArray(provided))
            exportsByModule[request] = { version: readVersion(request), exports: provided.toSorted() };
          else exportsByModule[request] = { version: readVersion(request), exports: readCommonJsExports(request) };
        }
      });
    });
    compiler.run((error, stats) => {
      compiler.close(() => {
        if (error !== null) reject(error);
        else if (stats?.hasErrors() === true) reject(new Error(stats.toString("errors-only")));
        else
          resolve(
            Object.fromEntries(
              requestedNames.map((name) => [
                name,
                exportsByModule[name] ?? { version: readVersion(name), exports: [] },
              ]),
            ),
          );
      });
    });
  });
}

/**
 * Plain re-exports, by file name: of all of zod but its languages, which stand in it twice, as
 * `locales` and in `core`; and of React Router by name, because what its package says, `export *
 * from` another shared one, is lost when webpack builds again.
 */
function renderReExports(surface: Surface): Record<string, string> {
  const renderReExport = (names: readonly string[], from: string) =>
    `export {\n${names.map((name) => `  ${name},\n`).join("")}} from "${from}";\n`;
  const zodParts = (surface["zod"]?.exports ?? []).filter(
    (name) => !["core", "default", "locales", "z"].includes(name),
  );
  const zodCore = (surface["zod/v4/core"]?.exports ?? []).filter((name) => name !== "locales");
  const comment = "/** Written by `pnpm surface`, which says why. */\n";
  const router = surface["react-router"]?.exports ?? [];
  const routerDom = (surface["react-router-dom"]?.exports ?? []).filter(
    (name) => name === "RouterProvider" || !router.includes(name),
  );
  return {
    "react-router-dom.ts":
      comment +
      renderReExport(
        router.filter((name) => !routerDom.includes(name)),
        "react-router",
      ) +
      renderReExport(routerDom, "react-router/dom"),
    "zod-core.ts": comment + renderReExport(zodCore, "zod/v4/core"),
    "zod-parts.ts": `${comment}export * as core from "./zod-core.ts";\n${renderReExport(zodParts, "zod/v4")}`,
  };
}

/** React's packages are CommonJS: their names are known when they run. */
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
    exports: z.array(z.string()),
    withheld: z.record(z.string(), z.string()).optional(),
  }),
);

const listed = SurfaceFile.parse(JSON.parse(readFileSync(surfacePath, "utf8")));
const allExports = await readExports();
const exported: Surface = Object.fromEntries(
  Object.entries(allExports).filter(([name]) => !internalModules.includes(name)),
);
if (process.argv.includes("--write")) {
  const entries = Object.entries(exported).map(([name, { version, exports }]) => {
    const withheld = Object.entries(listed[name]?.withheld ?? {}).filter(([exportName]) =>
      exports.includes(exportName.split(".", 1).join("")),
    );
    const exposed = exports.filter((exportName) => !withheld.some(([withheldName]) => withheldName === exportName));
    return [
      name,
      { version, exports: exposed, ...(withheld.length > 0 && { withheld: Object.fromEntries(withheld) }) },
    ];
  });
  writeFileSync(surfacePath, `${JSON.stringify(Object.fromEntries(entries), null, 2)}\n`);
  for (const [name, text] of Object.entries(renderReExports(allExports)))
    writeFileSync(join(reExportsFolder, name), text);
} else {
  const problems = findSurfaceProblems(listed, exported);
  for (const [name, text] of Object.entries(renderReExports(allExports))) {
    if (readFileSync(join(reExportsFolder, name), "utf8") !== text)
      problems.push(`host/src/shared-packages/${name} gives other names than the list.`);
  }
  for (const problem of problems) console.error(problem);
  if (problems.length > 0) {
    console.error(
      "`pnpm surface` writes the list anew; what it gains is a minor version of the contract, what it loses a major one.",
    );
    process.exitCode = 1;
  }
}
