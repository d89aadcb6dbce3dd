import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";

import satisfies from "semver/functions/satisfies.js";
import { z } from "zod";

import { sharedModules, type SharedModule } from "./shared-packages.ts";

/** Version of each installed shared package, by name. */
export const ResolvedVersions = z.record(z.string(), z.string());
export type ResolvedVersions = z.infer<typeof ResolvedVersions>;

/** File of a build that says against which versions it was made. It is no part of the release. */
export const resolvedVersionsFile = "resolved-versions.json";

/** Reads the versions that a package's sources are compiled against. Leaves out what it lacks. */
export function readResolvedVersions(packageFolder: string): ResolvedVersions {
  return Object.fromEntries(
    [...providedPackages.keys()].flatMap((name) => {
      const file = findPackageFile(packageFolder, name);
      return file === null
        ? []
        : [[name, z.object({ version: z.string() }).parse(JSON.parse(readFileSync(file, "utf8"))).version]];
    }),
  );
}

/**
 * Lists packages in a version that the host's does not stand for: one older than the lowest tested
 * version, newer than the host's, or of another major version.
 */
export function findVersionProblems(resolved: ResolvedVersions): string[] {
  return [...providedPackages].flatMap(([name, { floor, version: provided }]) => {
    const version = resolved[name];
    if (version === undefined || (satisfies(version, `^${floor}`) && satisfies(provided, `^${version}`))) return [];
    return [`${name} ${version} is installed, and the host provides ${provided}: install ${provided}.`];
  });
}

/** Shared packages by name, such as `react-dom` for its module `react-dom/client`. */
const providedPackages: ReadonlyMap<string, Pick<SharedModule, "floor" | "version">> = new Map(
  Object.entries(sharedModules).map(([specifier, module]) => [getPackageName(specifier), module]),
);

function getPackageName(specifier: string): string {
  return specifier.split("/", specifier.startsWith("@") ? 2 : 1).join("/");
}

/** Looks up as Node does, but also finds packages that do not export their `package.json`. */
function findPackageFile(folder: string, name: string): string | null {
  const file = join(folder, "node_modules", name, "package.json");
  if (existsSync(file)) return file;
  return dirname(folder) === folder ? null : findPackageFile(dirname(folder), name);
}
