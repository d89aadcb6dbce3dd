import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";

import satisfies from "semver/functions/satisfies.js";
import { z } from "zod";

import { sharedModules, type SharedModule } from "./shared-packages.ts";

/** Version of each installed shared package and of its types, by name. */
export const ResolvedVersions = z.record(z.string(), z.string());
export type ResolvedVersions = z.infer<typeof ResolvedVersions>;

/** File of a build that says against which versions it was made. It is no part of the release. */
export const resolvedVersionsFile = "resolved-versions.json";

/** Reads the versions that a package's sources are compiled against. Leaves out what it lacks. */
export function readResolvedVersions(packageFolder: string): ResolvedVersions {
  return Object.fromEntries(
    [...providedPackages.keys(), ...Object.keys(typePackages)].flatMap((name) => {
      const file = findPackageFile(packageFolder, name);
      return file === null
        ? []
        : [[name, z.object({ version: z.string() }).parse(JSON.parse(readFileSync(file, "utf8"))).version]];
    }),
  );
}

/**
 * Lists packages in a version that the host's does not stand for: one older than the lowest tested
 * version, newer than the host's, or of another major version. Also lists types of another major
 * version, or of a later minor one: only major and minor version of types are those of the package.
 */
export function findVersionProblems(resolved: ResolvedVersions): string[] {
  const packageProblems = [...providedPackages].flatMap(([name, { floor, version: provided }]) => {
    const version = resolved[name];
    if (version === undefined || (satisfies(version, `^${floor}`) && satisfies(provided, `^${version}`))) return [];
    return [`${name} ${version} is installed, and the host provides ${provided}: install ${provided}.`];
  });
  const typeProblems = Object.entries(typePackages).flatMap(([types, name]) => {
    const version = resolved[types];
    const provided = providedPackages.get(name)?.version ?? "";
    if (version === undefined || satisfies(provided, `^${version.replace(/\.\d+$/, ".0")}`)) return [];
    return [
      `${types} ${version} is installed, and the host provides ${name} ${provided}: install types of ${provided}.`,
    ];
  });
  return [...packageProblems, ...typeProblems];
}

/** Packages that have the types of a shared package without types of its own. */
const typePackages: Readonly<Record<string, string>> = { "@types/react": "react", "@types/react-dom": "react-dom" };

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
