import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

import { CONTRACT_VERSION } from "@relicario/shared/contract";
import { isInCaretRange } from "@relicario/shared/contract/compatibility";
import { decodeJwt } from "jose";
import { z } from "zod";

import { rootFolder } from "../paths.ts";
import { listReleases } from "../release/registry.ts";
import { remoteNames } from "../remotes.ts";

export interface RetainedReleases {
  /** Folders by release. */
  readonly folders: ReadonlyMap<string, string>;
  /** For another version of the contract: this host refuses them before their code runs. */
  readonly incompatible: readonly string[];
}

const SignedRecord = z.object({ manifest: z.object({ contract: z.string() }) });

/**
 * All of the registry (`RELEASES_FOLDER`, else that of `npm start`), and the last build of each
 * package.
 */
export function findRetainedReleases(
  registry = process.env["RELEASES_FOLDER"] ?? join(rootFolder, ".data/releases"),
): RetainedReleases {
  const remotes = existsSync(registry)
    ? readdirSync(registry, { withFileTypes: true }).flatMap((entry) => (entry.isDirectory() ? [entry.name] : []))
    : [];
  const foldersByRelease = new Map(
    remotes.flatMap((remote) =>
      listReleases(registry, remote).map((release) => [release, join(registry, remote, release)]),
    ),
  );
  for (const name of remoteNames) {
    const dist = join(rootFolder, `remote-${name}/dist`);
    const release = readFileSync(join(dist, "current"), "utf8").trim();
    foldersByRelease.set(release, join(dist, release));
  }
  const incompatible = [...foldersByRelease]
    .filter(([, folder]) => !isInCaretRange(CONTRACT_VERSION, readContract(folder)))
    .map(([release]) => release);
  for (const release of incompatible) foldersByRelease.delete(release);
  return { folders: foldersByRelease, incompatible };
}

function readContract(folder: string): string {
  return SignedRecord.parse(decodeJwt(readFileSync(join(folder, "release.json"), "utf8"))).manifest.contract;
}
