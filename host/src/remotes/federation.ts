import type { RemoteName } from "@relicario/shared/contract";
import { PortalError } from "@relicario/shared/errors";
import { loadRemote, registerPlugins, registerRemotes } from "@module-federation/enhanced/runtime";

import { allowFiles, getIntegrity, getReleaseUrl } from "../deployment/integrity.ts";
import type { VerifiedDeployment } from "../deployment/verify.ts";
import { loadLimits } from "./load-with-retry.ts";

/**
 * Registers the verified releases with the federation runtime by the addresses of their entries, so
 * that it fetches no manifest. Every script and stylesheet that it or a remote loads must have the
 * hash that the signed record gives.
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
  registerPlugins([
    {
      name: "verified-releases",
      createScript: ({ url }) => {
        const script = document.createElement("script");
        script.src = url;
        script.integrity = getIntegrity(url);
        script.crossOrigin = "anonymous";
        script.fetchPriority = "high";
        return { script, timeout: loadLimits.attemptMs };
      },
      createLink: ({ url, attrs }) => {
        const link = document.createElement("link");
        for (const [name, value] of Object.entries(attrs ?? {})) link.setAttribute(name, String(value));
        Object.assign(link, {
          href: url,
          integrity: getIntegrity(url),
          crossOrigin: "anonymous",
          nonce: document.querySelector<HTMLMetaElement>("meta[property=csp-nonce]")?.nonce,
        });
        return link;
      },
    },
  ]);
  registerRemotes(remotes);
}

/**
 * Runs a remote's entry and gives its default export, not parsed yet. After a failure a further
 * call loads again: the runtime drops rejected promises (of entries, of initialising and of exposed
 * modules) and removes the failed script element.
 */
export async function loadModule(name: RemoteName): Promise<unknown> {
  const loaded = await loadRemote<{ default?: unknown }>(`${getContainerName(name)}/remote`);
  if (loaded === null) throw new PortalError("remote_unreachable");
  return loaded.default;
}

function getContainerName(name: RemoteName): string {
  return `relicario_${name}`;
}
