/**
 * Creates a remote outside this repository: `create-relicario-remote <folder> [--name <name>]`.
 * Guide: docs/remotes.md.
 */
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { basename, join, relative, resolve } from "node:path";
import { parseArgs } from "node:util";

import { RemoteManifest } from "@relicario/shared/contract";
import { parse } from "yaml";
import { z } from "zod";

import { rootFolder } from "../paths.ts";
import { listFiles } from "../release/files.ts";
import { runPnpm } from "../release/pnpm.ts";
import { UserFacingError } from "../user-facing-error.ts";

const usage = "create-relicario-remote <folder> [--name <name>]";
const templateFolder = join(rootFolder, "tooling/template");
/** Packages that a remote needs besides the dependencies of `shared`. */
const devPackages = ["@types/jest", "@types/node", "@types/react", "@types/react-dom", "jest", "typescript"];

/**
 * Copies the template and packs the contract.
 *
 * @throws UserFacingError when the folder has files, or the name is invalid
 */
export async function createRemote(folder: string, name: string): Promise<void> {
  const parsedName = RemoteManifest.shape.name.safeParse(name);
  if (!parsedName.success)
    throw new UserFacingError(`A remote cannot be called "${name}": ${z.prettifyError(parsedName.error)}`);
  if (existsSync(folder) && readdirSync(folder).length > 0) throw new UserFacingError(`${folder} has files already.`);

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
  await runPnpm(join(rootFolder, "shared"), ["pack", "--pack-destination", folder]);
  const packageFile = join(folder, "package.json");
  writeFileSync(
    packageFile,
    `${JSON.stringify({ ...z.looseObject({}).parse(JSON.parse(readFileSync(packageFile, "utf8"))), dependencies: resolveDependencies() }, null, 2)}\n`,
  );
}

/** Resolves dependencies to the portal's versions, against which a remote must be built. */
function resolveDependencies(): Record<string, string> {
  const SharedPackage = z.object({ version: z.string(), peerDependencies: z.record(z.string(), z.string()) });
  const { version, peerDependencies } = SharedPackage.parse(
    JSON.parse(readFileSync(join(rootFolder, "shared/package.json"), "utf8")),
  );
  const { catalog } = z
    .object({ catalog: z.record(z.string(), z.string()) })
    .parse(parse(readFileSync(join(rootFolder, "pnpm-workspace.yaml"), "utf8")));
  const pinnedEntries = [...Object.keys(peerDependencies), ...devPackages].map((name) => {
    const pinnedVersion = catalog[name];
    if (pinnedVersion === undefined) throw new TypeError(`the catalog has no ${name}`);
    return [name, pinnedVersion] as const;
  });
  return { "@relicario/shared": `file:./relicario-shared-${version}.tgz`, ...Object.fromEntries(pinnedEntries) };
}

/** @returns the exit code */
export async function main(argv: readonly string[]): Promise<number> {
  try {
    const { values, positionals } = parseArgs({
      args: [...argv],
      options: { name: { type: "string" } },
      allowPositionals: true,
    });
    const [targetFolder, ...extraArguments] = positionals;
    if (targetFolder === undefined || extraArguments.length > 0) throw new UserFacingError(usage);
    const folder = resolve(process.env["INIT_CWD"] ?? process.cwd(), targetFolder);
    await createRemote(folder, values.name ?? basename(folder));
    console.log(
      `${relative(process.cwd(), folder)} is made. Next, in it:\n\n  pnpm install\n  pnpm build\n  pnpm test\n\nand then, in the portal's folder:\n\n  REMOTES=${folder} npm start\n\nMore: docs/remotes.md.`,
    );
    return 0;
  } catch (error) {
    const isUserError = error instanceof UserFacingError || (error instanceof TypeError && "code" in error);
    console.error(isUserError ? error.message : error);
    return 1;
  }
}
