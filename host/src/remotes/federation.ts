import type { ReleaseRecord, RemoteName } from "@relicario/shared/contract";
import { PortalError } from "@relicario/shared/errors";
import { loadRemote, registerPlugins, registerRemotes } from "@module-federation/enhanced/runtime";

import type { VerifiedDeployment } from "../deployment/verify.ts";

/** Where the files of a release lie. */
export function releaseAddress(origin: string, record: ReleaseRecord): string {
  return `${origin}/r/${record.manifest.name}/${record.release}/`;
}

/** A hash that no file has: a file that is not in a verified record fails like any script whose hash differs. */
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
 * Registers the verified releases with the federation runtime by the addresses of their entries, so that it fetches no
 * manifest. Every script that it loads must have the hash that the signed record gives.
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
 * Runs a remote's entry and gives its default export, not parsed yet. After a failure a further call loads again: the runtime
 * drops rejected promises (of entries, of initialising and of exposed modules) and removes the failed script element.
 */
export async function loadModule(name: RemoteName): Promise<unknown> {
  const loaded = await loadRemote<{ default?: unknown }>(`${containerOf(name)}/remote`);
  if (loaded === null) throw new PortalError("remote_unreachable");
  return loaded.default;
}

function containerOf(name: RemoteName): string {
  return `relicario_${name}`;
}
