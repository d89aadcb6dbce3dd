import type { TestService } from "./service.ts";

/** `METRICS_TOKEN` for tests that read metrics. */
export const metricsToken = "t".repeat(32);

/** A counter of `/metrics`, by name and one label (`step="objects"`); 0 when missing. */
export async function readMetric(service: TestService, name: string, label: string): Promise<number> {
  const { status, text } = await service.call("GET", "/metrics", metricsToken);
  if (status !== 200 || !text.includes(`# TYPE ${name} `)) throw new Error(`there is no ${name}: ${String(status)}`);
  const line = text.split("\n").find((candidate) => candidate.startsWith(`${name}{${label}} `));
  return Number(line?.slice(line.lastIndexOf(" ")) ?? 0);
}
