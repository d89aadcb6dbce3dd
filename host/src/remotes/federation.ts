import type { ReleaseRecord, RemoteName } from "@relicario/shared/contract";
import { PortalError } from "@relicario/shared/errors";
import { loadRemote, registerPlugins, registerRemotes } from "@module-federation/enhanced/runtime";

import type { VerifiedDeployment } from "../deployment/verify.ts";

/** Where the files of a release lie. */
export function releaseAddress(origin: string, record: ReleaseRecord): string {
  return `${origin}/r/${record.manifest.name}/${record.release}/`;
}

/** A hash that nothing has: what is not in a verified record fails on the normal path of a failed load. */
export const impossibleIntegrity = `sha384-${"A".repeat(64)}`;

/** The hash that a verified record gives for an address, or {@link impossibleIntegrity}. */
export function integrityOf(address: string, origin: string, verified: VerifiedDeployment): string {
  for (const remote of verified.remotes.values()) {
    if (remote.status !== "verified") continue;
    const base = releaseAddress(origin, remote.record);
    if (!address.startsWith(base)) continue;
    const file = address.slice(base.length);
    return Object.hasOwn(remote.record.files, file) ? (remote.record.files[file] ?? impossibleIntegrity) : impossibleIntegrity;
  }
  return impossibleIntegrity;
}

/**
 * Tells the federation runtime of the verified releases, by the addresses of their entries: no manifest is asked for. What it
 * loads as a script must have the hash of the record that the team signed.
 */
export function registerVerified(verified: VerifiedDeployment, origin: string): void {
  const remotes = [];
  for (const [name, remote] of verified.remotes) {
    if (remote.status !== "verified") continue;
    remotes.push({ name: containerOf(name), entry: `${releaseAddress(origin, remote.record)}remoteEntry.js`, type: "var" as const, entryGlobalName: containerOf(name) });
  }
  registerPlugins([
    {
      name: "verified-releases",
      createScript: ({ url }) => {
        const script = document.createElement("script");
        script.src = url;
        script.integrity = integrityOf(url, origin, verified);
        script.crossOrigin = "anonymous";
        script.fetchPriority = "high";
        return script;
      },
    },
  ]);
  registerRemotes(remotes);
}

/**
 * Runs a remote's entry and gives its face, not looked at yet. The runtime keeps no failed load: its promises of entries,
 * of initialising and of exposed modules are forgotten when they reject, and a failed script element is taken away, so that
 * calling again loads anew.
 */
export async function loadFace(name: RemoteName): Promise<unknown> {
  const loaded = await loadRemote<{ default?: unknown }>(`${containerOf(name)}/remote`);
  if (loaded === null) throw new PortalError("remote_unreachable");
  return loaded.default;
}

function containerOf(name: RemoteName): string {
  return `relicario_${name}`;
}
