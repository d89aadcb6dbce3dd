import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { RemoteManifest } from "@relicario/shared/contract";
import { z } from "zod";

import { listFiles } from "../release/files.ts";
import { UserFacingError } from "../user-facing-error.ts";

/** What a remote is made from, besides the template (`kit.json` of the packed tools). */
export const RemoteKit = z.strictObject({
  /** Versions of the portal, against which a remote must be built. */
  dependencies: z.record(z.string(), z.string()),
  /** Versions of the packages of this repository that a remote uses. */
  packages: z.strictObject({ "@relicario/shared": z.string(), "@relicario/remote-tools": z.string() }),
  /** Name and version. */
  pnpm: z.string(),
});
export type RemoteKit = z.infer<typeof RemoteKit>;

/**
 * Refuses to create a remote.
 *
 * @throws UserFacingError when the folder has files, or the name is invalid
 */
export function requireCreatable(folder: string, name: string): void {
  const parsedName = RemoteManifest.shape.name.safeParse(name);
  if (!parsedName.success)
    throw new UserFacingError(`A remote cannot be called "${name}": ${z.prettifyError(parsedName.error)}`);
  if (existsSync(folder) && readdirSync(folder).length > 0) throw new UserFacingError(`${folder} has files already.`);
}

/**
 * Copies the template, and names the packages that it needs.
 *
 * @param packagesFolder has the packed packages, which are copied; null: the registry has them
 * @throws UserFacingError as {@link requireCreatable}, or when a package is missing
 */
export function createRemote(
  folder: string,
  name: string,
  {
    kit,
    templateFolder,
    packagesFolder,
  }: { readonly kit: RemoteKit; readonly templateFolder: string; readonly packagesFolder: string | null },
): void {
  requireCreatable(folder, name);
  const packages = Object.entries(kit.packages).map(([packageName, version]) => ({
    packageName,
    version,
    file: `${packageName.slice(1).replace("/", "-")}-${version}.tgz`,
  }));
  for (const { file } of packages)
    if (packagesFolder !== null && !existsSync(join(packagesFolder, file)))
      throw new UserFacingError(`${packagesFolder} has no ${file}.`);

  mkdirSync(folder, { recursive: true });
  cpSync(templateFolder, folder, { recursive: true });
  renameSync(join(folder, "gitignore"), join(folder, ".gitignore")); // `npm pack` leaves out files named .gitignore
  const fillTemplate = (text: string): string =>
    text.replaceAll("__name__", name).replaceAll("__Name__", `${name.charAt(0).toUpperCase()}${name.slice(1)}`);
  for (const file of listFiles(folder)) {
    const path = join(folder, file);
    writeFileSync(path, fillTemplate(readFileSync(path, "utf8")));
    renameSync(path, join(folder, fillTemplate(file)));
  }
  const own = packages.map(({ packageName, version, file }) => {
    if (packagesFolder === null) return [packageName, version] as const;
    cpSync(join(packagesFolder, file), join(folder, file));
    return [packageName, `file:./${file}`] as const;
  });
  const { "@relicario/remote-tools": tools, ...contract } = Object.fromEntries(own);
  const packageFile = join(folder, "package.json");
  const description = {
    ...z.looseObject({}).parse(JSON.parse(readFileSync(packageFile, "utf8"))),
    dependencies: { ...contract, ...kit.dependencies },
    devDependencies: { "@relicario/remote-tools": tools },
  };
  writeFileSync(packageFile, `${JSON.stringify(description, null, 2)}\n`);
}
