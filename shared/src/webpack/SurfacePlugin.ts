import webpack, { type Compiler, type Dependency } from "webpack";

import { sharedModules, type SharedModule } from "./shared-packages.ts";

/** Modules of shared packages that a remote may bring by itself, with the reason. */
const broughtAlong: readonly { readonly pattern: RegExp; readonly because: string }[] = [
  {
    pattern: /^zod\/(v4\/)?locales(\/|$)/,
    because: "zod's languages are words without a state, 40 kB that hardly anybody needs",
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
          const found = new Map(
            dependenciesOf(module).flatMap((dependency) =>
              objectionsTo(dependency, compilation).map((objection) => [objection, dependency] as const),
            ),
          );
          for (const [objection, { loc }] of found) {
            const error = new webpack.WebpackError(objection);
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
function dependenciesOf({ dependencies, blocks }: Pick<webpack.Module, "blocks" | "dependencies">): Dependency[] {
  return [...dependencies, ...blocks.flatMap(dependenciesOf)];
}

function objectionsTo(dependency: Dependency, { moduleGraph }: webpack.Compilation): string[] {
  if (!(dependency instanceof webpack.dependencies.ModuleDependency)) return [];
  const { request } = dependency;
  const shared = sharedModules[request];
  if (shared === undefined) return objectionToModule(request);
  return dependency
    .getReferencedExports(moduleGraph, undefined)
    .flatMap((reference) => objectionToName(request, shared, Array.isArray(reference) ? reference : reference.name));
}

/**
 * @param path of the name, longer than one where the name is a namespace: `["z", "locales"]`; empty
 *   for the whole module
 */
function objectionToName(request: string, { exports, withheld = {} }: SharedModule, path: readonly string[]): string[] {
  const [name] = path;
  if (name === undefined) return [];
  const reason = Object.entries(withheld).find(([hidden]) =>
    `${path.join(".")}.`.replace(/^(z|default)\./, "").startsWith(`${hidden}.`),
  );
  if (reason !== undefined) return [`${path.join(".")} of ${request} is not given by the host: it ${reason[1]}.`];
  return exports.includes(name)
    ? []
    : [`${name} of ${request} is not given by the host: the surface of the contract does not list it.`];
}

/**
 * About a module beside the listed ones of a package that is shared: a second copy of it would not
 * be the host's.
 */
export function objectionToModule(request: string): string[] {
  const owner = [...Object.keys(sharedModules), "@relicario/shared"].find((name) => request.startsWith(`${name}/`));
  if (owner === undefined || broughtAlong.some(({ pattern }) => pattern.test(request))) return [];
  return [
    `${request} is not given by the host, and a remote must not bring a second ${owner}: the surface of the contract has ${Object.keys(
      sharedModules,
    )
      .filter((name) => name === owner || name.startsWith(`${owner}/`))
      .join(", ")}.`,
  ];
}
