import { existsSync, readdirSync, realpathSync } from "node:fs";
import { dirname, join, relative, sep } from "node:path";

import { build } from "esbuild";

import { rootFolder } from "../paths.ts";

/** What the image runs. Files that programs load by name are listed too. */
export const serverEntries: readonly string[] = [
  ...["main", "identity/main", "uploads/digest.worker"].map((name) => `api/src/${name}.ts`),
  ...[
    "commands/migrate-command",
    "commands/reseal-command",
    "feedback/feedback-command",
    "shares/share-command",
    "users/account-command",
  ].map((name) => `api/src/${name}.ts`),
  ...["backup/main", "operate/main", "portal/main", "serve/gateway-main", "serve/remote-main"].map(
    (name) => `tooling/src/${name}.ts`,
  ),
  ...["deployment-signer", "health", "with-secrets"].map((name) => `tooling/src/containers/${name}.ts`),
];

const storeFolder = join(rootFolder, "node_modules/.pnpm");

/**
 * Folders of pnpm's store (`node_modules/.pnpm/<folder>`) that the servers need: of packages that
 * their files import, and of what those depend on. Others come with packages of pages and of tests.
 */
export async function listServerPackages(): Promise<readonly string[]> {
  const listed = new Set<string>();
  const add = (packageFolder: string): void => {
    const [folder = ""] = relative(storeFolder, packageFolder).split(sep);
    if (folder === ".." || listed.has(folder)) return;
    listed.add(folder);
    for (const dependency of listPackages(join(storeFolder, folder, "node_modules"))) add(dependency);
  };
  for (const { name, importer } of await findImportedPackages()) {
    const packageFolder = findPackage(name, importer);
    if (packageFolder === null) throw new Error(`${name} is not installed for ${relative(rootFolder, importer)}`);
    add(packageFolder);
  }
  return [...listed].sort();
}

interface ImportedPackage {
  readonly name: string;
  readonly importer: string;
}

async function findImportedPackages(): Promise<readonly ImportedPackage[]> {
  const imported: ImportedPackage[] = [];
  await build({
    absWorkingDir: rootFolder,
    entryPoints: [...serverEntries],
    bundle: true,
    write: false,
    outdir: "unused",
    platform: "node",
    format: "esm",
    logLevel: "error",
    plugins: [
      {
        name: "packages",
        setup(bundler) {
          bundler.onResolve({ filter: /^[^./]/ }, ({ path, importer, kind }) => {
            // files of our packages are searched too
            if (kind === "entry-point" || path.startsWith("@relicario/")) return undefined;
            const [name = ""] = /^(@[^/]+\/)?[^/]+/.exec(path) ?? [];
            if (!path.startsWith("node:")) imported.push({ name, importer });
            return { external: true };
          });
        },
      },
    ],
  });
  return imported;
}

/** Finds a package as Node does, from the importing file upwards; null without one. */
function findPackage(name: string, importer: string): string | null {
  for (let folder = dirname(importer); ; folder = dirname(folder)) {
    const candidate = join(folder, "node_modules", name);
    if (existsSync(candidate)) return realpathSync(candidate);
    if (folder === rootFolder || folder === dirname(folder)) return null;
  }
}

/** Packages in a `node_modules` of the store, without those that were not installed. */
function listPackages(modulesFolder: string): readonly string[] {
  return readdirSync(modulesFolder)
    .filter((name) => !name.startsWith("."))
    .flatMap((name) =>
      name.startsWith("@") ? readdirSync(join(modulesFolder, name)).map((inner) => join(name, inner)) : [name],
    )
    .map((name) => join(modulesFolder, name))
    .filter((path) => existsSync(path))
    .map((path) => realpathSync(path));
}
