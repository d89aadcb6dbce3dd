/**
 * `create-relicario-remote <folder> [--name <name>] [--packages <folder>]`, of the packed tools:
 * creates a remote without a checkout of the portal. Guide: docs/remotes.md.
 */
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";

import { createRemote, RemoteKit } from "./create-remote.ts";
import { runCreation } from "./run-creation.ts";

const packageFolder = join(import.meta.dirname, "..");

process.exitCode = await runCreation(process.argv.slice(2), (folder, name, packagesFolder) => {
  createRemote(folder, name, {
    kit: RemoteKit.parse(JSON.parse(readFileSync(join(packageFolder, "kit.json"), "utf8"))),
    templateFolder: join(packageFolder, "template"),
    packagesFolder: packagesFolder === undefined ? null : resolve(packagesFolder),
  });
});
