import type { Deployment } from "@relicario/shared/contract";

import { formatTelemetry } from "./telemetry-summary.ts";
import { listReleases } from "../release/registry.ts";
import { readVendor, listVendorIds, type PortalStore } from "./store.ts";

/** Says in one line which releases of a remote run, and which are disabled. */
export function describeRemote({ releases, disabled = [] }: Deployment, remote: string): string {
  const choice = releases[remote];
  const disabledReleases = disabled.filter((release) => release.startsWith(`${remote}-`));
  return [
    choice === undefined
      ? `${remote} has no release.`
      : choice.canary === undefined
        ? `${remote} runs ${choice.stable}.`
        : `${remote} runs ${choice.stable}, and ${choice.canary.release} in ${String(choice.canary.percent)} % of sessions.`,
    ...(disabledReleases.length === 0 ? [] : [`Disabled: ${disabledReleases.join(", ")}.`]),
  ].join(" ");
}

export async function formatStatus(store: PortalStore, metricsToken: string): Promise<readonly string[]> {
  const lines: string[] = [];
  const serviceUrls = new Set<string>();
  for (const vendorId of listVendorIds(store)) {
    const { deployment } = await readVendor(store, vendorId);
    const { disabled = [] } = deployment;
    serviceUrls.add(deployment.api.base_url);
    lines.push(
      `${vendorId}  ${deployment.origin}  number ${String(deployment.sequence)}  until ${deployment.not_after}`,
    );
    for (const [remote, { stable, canary }] of Object.entries(deployment.releases)) {
      const formatDisabledSuffix = (release: string): string => (disabled.includes(release) ? " (disabled)" : "");
      lines.push(
        `  ${remote}  ${stable}${formatDisabledSuffix(stable)}${canary === undefined ? "" : `  ${String(canary.percent)} %: ${canary.release}${formatDisabledSuffix(canary.release)}`}`,
      );
      const otherReleases = listReleases(store.registryFolder, remote).filter(
        (release) => release !== stable && release !== canary?.release,
      );
      for (const release of otherReleases) lines.push(`    also there: ${release}${formatDisabledSuffix(release)}`);
    }
  }
  for (const serviceUrl of serviceUrls) lines.push(...(await formatTelemetry(serviceUrl, metricsToken)));
  return lines.length === 0 ? ["No vendor has a deployment document here."] : lines;
}
