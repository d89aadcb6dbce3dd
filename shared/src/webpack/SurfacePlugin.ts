import webpack, { type Compiler, type Dependency } from "webpack";

import { findVersionProblems, readResolvedVersions, resolvedVersionsFile } from "./resolved-versions.ts";
import { sharedModules, unstableNames, type SharedModule } from "./shared-packages.ts";

/** Modules of shared packages that a remote may bundle, each with the reason. */
const bundledModules: readonly { readonly pattern: RegExp; readonly reason: string }[] = [
  {
    pattern: /^zod\/(v4\/)?locales(\/|$)/,
    reason: "zod's languages are stateless texts, 40 kB that few remotes need",
  },
];

/**
 * Fails a remote's build if it uses modules or names of shared packages that the host does not
 * provide, or is compiled against other versions. Adds {@link resolvedVersionsFile} to the build.
 */
export class SurfacePlugin {
  apply(compiler: Compiler): void {
    compiler.hooks.thisCompilation.tap(SurfacePlugin.name, (compilation) => {
      const resolvedVersions = readResolvedVersions(compiler.context);
      compilation.errors.push(
        ...findVersionProblems(resolvedVersions).map((problem) => new webpack.WebpackError(problem)),
      );
      compilation.emitAsset(resolvedVersionsFile, new webpack.sources.RawSource(JSON.stringify(resolvedVersions)));
    });
    compiler.hooks.compilation.tap(SurfacePlugin.name, (compilation) => {
      compilation.hooks.finishModules.tap(SurfacePlugin.name, (modules) => {
        for (const module of modules) {
          // Reports each violation of a module once.
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

/** Collects dependencies, including dynamic imports, which webpack keeps in blocks. */
function collectDependencies({ dependencies, blocks }: Pick<webpack.Module, "blocks" | "dependencies">): Dependency[] {
  return [...dependencies, ...blocks.flatMap(collectDependencies)];
}

function findViolations(dependency: Dependency, { moduleGraph }: webpack.Compilation): string[] {
  if (!(dependency instanceof webpack.dependencies.ModuleDependency)) return [];
  const { request } = dependency;
  const sharedModule = sharedModules[request];
  if (sharedModule === undefined) return checkModule(request);
  return dependency
    .getReferencedExports(moduleGraph, undefined)
    .flatMap((reference) => checkExport(request, sharedModule, Array.isArray(reference) ? reference : reference.name));
}

/**
 * Checks that the host provides an imported name.
 *
 * @param path Path of the name: `["z", "locales"]` for a member of a namespace, empty for the whole
 *   module
 */
function checkExport(request: string, { exports, withheld = {} }: SharedModule, path: readonly string[]): string[] {
  const [name] = path;
  if (name === undefined) return [];
  const fullName = `${path.join(".")}.`.replace(/^(z|default)\./, "");
  const withheldEntry = Object.entries(withheld).find(([prefix]) => fullName.startsWith(`${prefix}.`));
  const reason = unstableNames.test(fullName) ? "is internal or experimental, as its name says" : withheldEntry?.[1];
  if (reason !== undefined) return [`${path.join(".")} of ${request} is not given by the host: it ${reason}.`];
  return exports.includes(name)
    ? []
    : [`${name} of ${request} is not given by the host: the surface of the contract does not list it.`];
}

/** Refuses an unlisted module of a shared package, because it would be a second copy. */
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
