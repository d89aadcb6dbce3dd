/**
 * Collects what containers need of a build, without private keys: `node collect-releases.ts
 * <folder>` copies the current releases (`<remote>/<release>/`, as in a registry) and writes the
 * teams' public keys (`team-keys.json`).
 */
import { writeFileSync } from "node:fs";
import { join } from "node:path";

import { loadTeamKeyPair } from "../keys/signing-keys.ts";
import { rootFolder } from "../paths.ts";
import { addToRegistry } from "../release/registry.ts";
import { findCurrentRelease } from "../release/release.ts";
import { remoteNames } from "../remotes.ts";

const [folder] = process.argv.slice(2);
if (folder === undefined) throw new TypeError("name a target folder");
const teamKeys: Record<string, unknown[]> = {};
for (const name of remoteNames) {
  const keyPair = await loadTeamKeyPair(name);
  const release = await findCurrentRelease(join(rootFolder, `remote-${name}`), keyPair);
  if (release === null) throw new Error(`${name} is not built`);
  addToRegistry(folder, name, release.folder, release.record.release);
  teamKeys[name] = [keyPair.publicKey];
}
writeFileSync(join(folder, "team-keys.json"), JSON.stringify(teamKeys));
