/**
 * Packs what a team outside this repository needs: the contract, and the tools that create and sign
 * a remote. `pnpm pack:remote <folder>` writes both packages there.
 */
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { build } from "esbuild";
import { parse } from "yaml";
import { z } from "zod";

import { rootFolder } from "../paths.ts";
import { readPinnedPnpm, runPnpm } from "../release/pnpm.ts";
import { createRemote, requireCreatable, type RemoteKit } from "./create-remote.ts";

const templateFolder = join(rootFolder, "tooling/template");
const toolsFolder = join(rootFolder, "tooling/remote-tools");
/** Packages that a remote needs besides the dependencies of `shared`. */
const devPackages = ["@types/jest", "@types/node", "@types/react", "@types/react-dom", "jest", "typescript"];

/** Packs both packages into the folder. */
export async function packForTeams(targetFolder: string): Promise<void> {
  mkdirSync(targetFolder, { recursive: true });
  await runPnpm(join(rootFolder, "shared"), ["pack", "--pack-destination", targetFolder]);
  const folder = mkdtempSync(join(tmpdir(), "remote-tools-"));
  try {
    cpSync(toolsFolder, folder, { recursive: true });
    cpSync(templateFolder, join(folder, "template"), { recursive: true });
    cpSync(join(rootFolder, "LICENSE"), join(folder, "LICENSE"));
    writeFileSync(join(folder, "kit.json"), JSON.stringify(readRemoteKit(), null, 2));
    await build({
      entryPoints: {
        "create-relicario-remote": join(import.meta.dirname, "create-main.ts"),
        "relicario-remote": join(import.meta.dirname, "main.ts"),
      },
      outdir: join(folder, "dist"),
      outExtension: { ".js": ".mjs" },
      bundle: true,
      platform: "node",
      format: "esm",
      target: "node20", // of `npx`; the remote's own scripts run with Node 24
      banner: { js: "#!/usr/bin/env node" },
    });
    await runPnpm(folder, ["pack", "--pack-destination", targetFolder]);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Creates a remote with the packages of this checkout. Throws as {@link createRemote}. */
export async function createRemoteHere(folder: string, name: string): Promise<void> {
  requireCreatable(folder, name);
  const packagesFolder = mkdtempSync(join(tmpdir(), "remote-packages-"));
  try {
    await packForTeams(packagesFolder);
    createRemote(folder, name, { kit: readRemoteKit(), templateFolder, packagesFolder });
  } finally {
    rmSync(packagesFolder, { recursive: true, force: true });
  }
}

function readRemoteKit(): RemoteKit {
  const { version: contractVersion, peerDependencies } = z
    .object({ version: z.string(), peerDependencies: z.record(z.string(), z.string()) })
    .parse(JSON.parse(readFileSync(join(rootFolder, "shared/package.json"), "utf8")));
  const { version: toolsVersion } = z
    .object({ version: z.string() })
    .parse(JSON.parse(readFileSync(join(toolsFolder, "package.json"), "utf8")));
  const { catalog } = z
    .object({ catalog: z.record(z.string(), z.string()) })
    .parse(parse(readFileSync(join(rootFolder, "pnpm-workspace.yaml"), "utf8")));
  const dependencies = [...Object.keys(peerDependencies), ...devPackages].map((name) => {
    const pinnedVersion = catalog[name];
    if (pinnedVersion === undefined) throw new TypeError(`the catalog has no ${name}`);
    return [name, pinnedVersion] as const;
  });
  return {
    dependencies: Object.fromEntries(dependencies),
    packages: { "@relicario/shared": contractVersion, "@relicario/remote-tools": toolsVersion },
    pnpm: readPinnedPnpm(),
  };
}
