import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

import { rootFolder } from "../paths.ts";
import { releasesIn } from "../portal/registry.ts";
import { remoteNames } from "../remotes.ts";

/**
 * Folders of every released remote that is kept, by release: all of the registry (`RELEASES_FOLDER`, else that of
 * `npm start`), and what was built last of each package.
 */
export function keptReleases(registry = process.env["RELEASES_FOLDER"] ?? join(rootFolder, ".data/releases")): ReadonlyMap<string, string> {
  const remotes = existsSync(registry) ? readdirSync(registry, { withFileTypes: true }).flatMap((entry) => (entry.isDirectory() ? [entry.name] : [])) : [];
  const kept = new Map(remotes.flatMap((remote) => releasesIn(registry, remote).map((release) => [release, join(registry, remote, release)])));
  for (const name of remoteNames) {
    const dist = join(rootFolder, `remote-${name}/dist`);
    const release = readFileSync(join(dist, "current"), "utf8").trim();
    kept.set(release, join(dist, release));
  }
  return kept;
}
