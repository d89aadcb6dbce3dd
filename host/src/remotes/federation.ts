import type { RemoteName } from "@relicario/shared/contract";
import { PortalError } from "@relicario/shared/errors";
import {
  loadRemote,
  registerPlugins,
  registerRemotes,
  type ModuleFederationRuntimePlugin,
} from "@module-federation/enhanced/runtime";

import { allowFiles, getIntegrity, getReleaseUrl } from "../deployment/integrity.ts";
import type { VerifiedDeployment } from "../deployment/verify.ts";
import { loadLimits } from "./load-with-retry.ts";

/**
 * Registers verified releases with the federation runtime, by the URLs of their entries, so that
 * the runtime fetches no manifest.
 *
 * Every script and stylesheet of a release must have the hash in the release's signed record.
 * webpack's IntegrityPlugin sets the hashes of files that a remote loads itself.
 */
export function registerReleases(verified: Pick<VerifiedDeployment, "remotes">, origin: string): void {
  const remotes = [];
  for (const [name, remote] of verified.remotes) {
    if (remote.status !== "verified") continue;
    allowFiles(getReleaseUrl(origin, remote.record), remote.record.files);
    remotes.push({
      name: getContainerName(name),
      entry: `${getReleaseUrl(origin, remote.record)}remoteEntry.js`,
      type: "var" as const,
      entryGlobalName: getContainerName(name),
    });
  }
  registerPlugins([integrityPlugin, failurePlugin]);
  registerRemotes(remotes);
}

/**
 * Runs a remote's entry and returns its default export, not validated yet. After a failure the next
 * call loads again, because the runtime drops rejected promises and removes the failed script
 * element.
 */
export async function loadModule(name: RemoteName): Promise<unknown> {
  const loaded = await loadRemote<{ default?: unknown }>(`${getContainerName(name)}/remote`);
  if (loaded === null) throw new PortalError("remote_unreachable");
  return loaded.default;
}

function getContainerName(name: RemoteName): string {
  return `relicario_${name}`;
}

/** Sets the signed hash on the script of an entry. Federation loads no other file. */
const integrityPlugin: ModuleFederationRuntimePlugin = {
  name: "integrity",
  createScript: ({ url }) => {
    const script = document.createElement("script");
    script.src = url;
    script.integrity = getIntegrity(url);
    script.crossOrigin = "anonymous";
    script.fetchPriority = "high";
    return { script, timeout: loadLimits.attemptMs };
  },
};

const throwCrash = ({ error }: { readonly error?: unknown }): void => {
  if (error !== undefined) throw new PortalError("remote_crashed", { cause: error });
};

/**
 * Distinguishes an entry that failed to load from one whose code failed. Code can fail when the
 * entry runs, when it is initialised, or when its module is evaluated.
 */
const failurePlugin: ModuleFederationRuntimePlugin = {
  name: "failures",
  loadEntryError: () => Promise.reject(new PortalError("remote_unreachable")),
  afterLoadEntry: throwCrash,
  afterInitRemote: throwCrash,
  afterExecuteFactory: throwCrash,
};
