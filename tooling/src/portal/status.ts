import { formatTelemetry } from "./telemetry-summary.ts";
import { listReleases } from "../release/registry.ts";
import { readVendor, listVendorIds, type PortalStore } from "./store.ts";

/**
 * What each vendor runs and until when, what else lies in the registry, and what pages told their
 * service, as lines for a person.
 */
export async function formatStatus(store: PortalStore, metricsToken: string): Promise<readonly string[]> {
  const lines: string[] = [];
  const services = new Set<string>();
  for (const vendorId of listVendorIds(store)) {
    const { deployment } = await readVendor(store, vendorId);
    const { disabled = [] } = deployment;
    services.add(deployment.api.base_url);
    lines.push(
      `${vendorId}  ${deployment.origin}  number ${String(deployment.sequence)}  until ${deployment.not_after}`,
    );
    for (const [remote, { stable, canary }] of Object.entries(deployment.releases)) {
      const formatDisabledSuffix = (release: string): string => (disabled.includes(release) ? " (switched off)" : "");
      lines.push(
        `  ${remote}  ${stable}${formatDisabledSuffix(stable)}${canary === undefined ? "" : `  ${String(canary.percent)} %: ${canary.release}${formatDisabledSuffix(canary.release)}`}`,
      );
      const otherReleases = listReleases(store.registry, remote).filter(
        (release) => release !== stable && release !== canary?.release,
      );
      for (const release of otherReleases) lines.push(`    also there: ${release}${formatDisabledSuffix(release)}`);
    }
  }
  for (const service of services) lines.push(...(await formatTelemetry(service, metricsToken)));
  return lines.length === 0 ? ["No vendor has a deployment document here."] : lines;
}
