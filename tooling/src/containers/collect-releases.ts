/**
 * Collects what containers need of a build, without private keys: `node collect-releases.ts
 * <folder>` writes the current releases' records (`records/<remote>.jws`) and the teams' public
 * keys (`team-keys.json`).
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { loadTeamKeyPair } from "../keys/signing-keys.ts";
import { rootFolder } from "../paths.ts";
import { findCurrentRelease } from "../release/release.ts";
import { remoteNames } from "../remotes.ts";

const [folder] = process.argv.slice(2);
if (folder === undefined) throw new TypeError("name a target folder");
mkdirSync(join(folder, "records"), { recursive: true });
const teamKeys: Record<string, unknown[]> = {};
for (const name of remoteNames) {
  const keyPair = await loadTeamKeyPair(name);
  const release = await findCurrentRelease(join(rootFolder, `remote-${name}`), keyPair);
  if (release === null) throw new Error(`${name} is not built`);
  writeFileSync(join(folder, "records", `${name}.jws`), release.jws);
  teamKeys[name] = [keyPair.publicKey];
}
writeFileSync(join(folder, "team-keys.json"), JSON.stringify(teamKeys));
