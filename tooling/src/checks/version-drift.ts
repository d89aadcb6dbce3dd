interface PackageManifest {
  readonly name: string;
  readonly dependencies: Readonly<Record<string, string>>;
  readonly devDependencies: Readonly<Record<string, string>>;
  readonly optionalDependencies: Readonly<Record<string, string>>;
  readonly peerDependencies: Readonly<Record<string, string>>;
}

export interface VersionSources {
  readonly manifests: readonly PackageManifest[];
  /** `pnpm-workspace.yaml`. */
  readonly workspace: string;
  /** `pnpm-lock.yaml`. */
  readonly lockfile: string;
}

/** Packages that may be installed in two versions, each with the reason. */
const toleratedDuplicates: Readonly<Record<string, string>> = {
  "@noble/curves": "@noble/post-quantum, of age-encryption, asks for 2.0",
  "@noble/hashes": "@noble/post-quantum, of age-encryption, asks for 2.0",
  esbuild: "drizzle-kit asks for 0.18 and 0.25",
  "lru-cache": "babel and path-scurry, of jest, ask for 5 and 10",
  semver: "babel, of jest, asks for 6",
  typescript: "7 checks the types; ts-loader, typescript-eslint and our own checks need the API of 6",
};

export function findVersionProblems({ manifests, workspace, lockfile }: VersionSources): string[] {
  const problems: string[] = [];
  const pinnedVersions = new Map(
    [...workspace.matchAll(/^ {2}"?([@a-zA-Z0-9/._-]+)"?: (?:npm:\S+@)?(\d\S*)$/gm)].map(([, name, version]) => [
      name ?? "",
      version ?? "",
    ]),
  );
  const usedDependencies = new Set<string>();
  for (const { name, dependencies, devDependencies, optionalDependencies, peerDependencies } of manifests) {
    for (const [dependency, range] of Object.entries({
      ...peerDependencies,
      ...optionalDependencies,
      ...devDependencies,
      ...dependencies,
    })) {
      usedDependencies.add(dependency);
      const expected = dependency.startsWith("@relicario/") ? "workspace:*" : "catalog:";
      if (range !== expected)
        problems.push(
          `${name} asks for ${dependency} "${range}": write "${expected}", the version belongs in pnpm-workspace.yaml.`,
        );
    }
  }
  for (const [name, version] of pinnedVersions) {
    if (!usedDependencies.has(name) && version !== "" && /^\d+\.\d+\.\d+/.test(version) && name !== "nodeVersion")
      problems.push(`The catalog pins ${name}, and no package asks for it.`);
    if (!/^\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?$/.test(version))
      problems.push(`The catalog pins ${name} to "${version}", which is not one version.`);
  }
  for (const [name, versions] of parseInstalledVersions(lockfile)) {
    if (pinnedVersions.has(name) && versions.size > 1 && toleratedDuplicates[name] === undefined)
      problems.push(`${name} is installed in ${String(versions.size)} versions: ${[...versions].join(", ")}.`);
  }
  return problems;
}

/** Versions by package, from the section `packages:` of the lockfile. */
function parseInstalledVersions(lockfile: string): Map<string, Set<string>> {
  const section = /^packages:\n([\s\S]*?)(?=^\S)/m.exec(`${lockfile}\nend:`)?.[1] ?? "";
  const versions = new Map<string, Set<string>>();
  for (const [, name = "", version = ""] of section.matchAll(/^ {2}'?(@?[^@'\s]+)@([^:'(]+)'?:$/gm))
    versions.set(name, (versions.get(name) ?? new Set()).add(version));
  return versions;
}
