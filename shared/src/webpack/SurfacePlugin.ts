import webpack, { type Compiler, type Dependency } from "webpack";

import { sharedModules, type SharedModule } from "./shared-packages.ts";

/** Modules of shared packages that a remote may bring by itself, with the reason. */
const bundledModules: readonly { readonly pattern: RegExp; readonly reason: string }[] = [
  {
    pattern: /^zod\/(v4\/)?locales(\/|$)/,
    reason: "zod's languages are words without a state, 40 kB that hardly anybody needs",
  },
];

/**
 * Refuses, while a remote is built, what the host will not give: a module of a shared package, or a
 * name, that the surface lacks.
 */
export class SurfacePlugin {
  apply(compiler: Compiler): void {
    compiler.hooks.compilation.tap(SurfacePlugin.name, (compilation) => {
      compilation.hooks.finishModules.tap(SurfacePlugin.name, (modules) => {
        for (const module of modules) {
          // What is imported once and used often is said once.
          const violations = new Map(
            collectDependencies(module).flatMap((dependency) =>
              findViolations(dependency, compilation).map((violation) => [violation, dependency] as const),
            ),
          );
          for (const [violation, { loc }] of violations) {
            const error = new webpack.WebpackError(violation);
            error.module = module;
            error.loc = loc;
            compilation.errors.push(error);
          }
        }
      });
    });
  }
}

/** Also what is imported by `import()`, which stands in blocks. */
function collectDependencies({ dependencies, blocks }: Pick<webpack.Module, "blocks" | "dependencies">): Dependency[] {
  return [...dependencies, ...blocks.flatMap(collectDependencies)];
}

function findViolations(dependency: Dependency, { moduleGraph }: webpack.Compilation): string[] {
  if (!(dependency instanceof webpack.dependencies.ModuleDependency)) return [];
  const { request } = dependency;
  const shared = sharedModules[request];
  if (shared === undefined) return checkModule(request);
  return dependency
    .getReferencedExports(moduleGraph, undefined)
    .flatMap((reference) => checkExport(request, shared, Array.isArray(reference) ? reference : reference.name));
}

/**
 * @param path of the name, longer than one where the name is a namespace: `["z", "locales"]`; empty
 *   for the whole module
 */
function checkExport(request: string, { exports, withheld = {} }: SharedModule, path: readonly string[]): string[] {
  const [name] = path;
  if (name === undefined) return [];
  const withheldEntry = Object.entries(withheld).find(([prefix]) =>
    `${path.join(".")}.`.replace(/^(z|default)\./, "").startsWith(`${prefix}.`),
  );
  if (withheldEntry !== undefined)
    return [`${path.join(".")} of ${request} is not given by the host: it ${withheldEntry[1]}.`];
  return exports.includes(name)
    ? []
    : [`${name} of ${request} is not given by the host: the surface of the contract does not list it.`];
}

/**
 * About a module beside the listed ones of a package that is shared: a second copy of it would not
 * be the host's.
 */
function checkModule(request: string): string[] {
  const packageName = [...Object.keys(sharedModules), "@relicario/shared"].find((name) =>
    request.startsWith(`${name}/`),
  );
  if (packageName === undefined || bundledModules.some(({ pattern }) => pattern.test(request))) return [];
  return [
    `${request} is not given by the host, and a remote must not bring a second ${packageName}: the surface of the contract has ${Object.keys(
      sharedModules,
    )
      .filter((name) => name === packageName || name.startsWith(`${packageName}/`))
      .join(", ")}.`,
  ];
}
