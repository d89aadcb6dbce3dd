import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

import { CONTRACT_VERSION } from "@relicario/shared/contract";
import { isInCaretRange } from "@relicario/shared/contract/compatibility";
import { decodeJwt } from "jose";
import { z } from "zod";

import { rootFolder } from "../paths.ts";
import { releasesIn } from "../portal/registry.ts";
import { remoteNames } from "../remotes.ts";

export interface KeptReleases {
  /** Folders by release. */
  readonly folders: ReadonlyMap<string, string>;
  /**
   * Built for a version of the contract that this host is not: it refuses them before their code
   * runs.
   */
  readonly refused: readonly string[];
}

const Stated = z.object({ manifest: z.object({ contract: z.string() }) });

/**
 * Folders of every released remote that is kept, by release: all of the registry
 * (`RELEASES_FOLDER`, else that of `npm start`), and what was built last of each package.
 */
export function keptReleases(
  registry = process.env["RELEASES_FOLDER"] ?? join(rootFolder, ".data/releases"),
): KeptReleases {
  const remotes = existsSync(registry)
    ? readdirSync(registry, { withFileTypes: true }).flatMap((entry) => (entry.isDirectory() ? [entry.name] : []))
    : [];
  const kept = new Map(
    remotes.flatMap((remote) =>
      releasesIn(registry, remote).map((release) => [release, join(registry, remote, release)]),
    ),
  );
  for (const name of remoteNames) {
    const dist = join(rootFolder, `remote-${name}/dist`);
    const release = readFileSync(join(dist, "current"), "utf8").trim();
    kept.set(release, join(dist, release));
  }
  const refused = [...kept]
    .filter(([, folder]) => !isInCaretRange(CONTRACT_VERSION, contractOf(folder)))
    .map(([release]) => release);
  for (const release of refused) kept.delete(release);
  return { folders: kept, refused };
}

function contractOf(folder: string): string {
  return Stated.parse(decodeJwt(readFileSync(join(folder, "release.json"), "utf8"))).manifest.contract;
}
