import { telemetryBucketBounds, TelemetrySums, vitalMetrics } from "@relicario/shared/api";

type TelemetrySum = TelemetrySums["sums"][number];

/**
 * What pages told the service of the last days, as lines for a person: loads of remotes, web vitals
 * by route, violations of the page's policy.
 */
export async function formatTelemetry(service: string, token: string): Promise<string[]> {
  const result = await fetchSums(service, token);
  if (typeof result === "string") return [`What pages told ${service} cannot be shown: ${result}.`];
  const { days, sums } = result;
  if (sums.length === 0) return [`Pages told ${service} nothing in ${String(days)} days.`];
  const isVital = ({ phase }: TelemetrySum): boolean => vitalMetrics.some((metric) => metric === phase);
  return [
    `What pages told ${service} in ${String(days)} days:`,
    ...sums
      .filter((sum) => !isVital(sum) && sum.phase !== "csp")
      .map(
        (sum) =>
          `  ${sum.remote}  ${sum.release}  ${sum.phase}  ${sum.code === "" ? "ok" : sum.code}  ${String(sum.count)}${formatPercentile(sum, "ms")}`,
      ),
    ...sums
      .filter(isVital)
      .map(
        (sum) =>
          `  ${sum.remote}  ${sum.release}  ${sum.route}  ${sum.phase}  ${String(sum.count)}${formatPercentile(sum, sum.phase === "CLS" ? "thousandths" : "ms")}`,
      ),
    ...sums
      .filter(({ phase }) => phase === "csp")
      .map(({ remote, release, code, count }) => `  ${remote}  ${release}  violated ${code}  ${String(count)}`),
  ];
}

async function fetchSums(service: string, token: string): Promise<TelemetrySums | string> {
  try {
    const response = await fetch(`${service}/telemetry`, {
      headers: { authorization: `Bearer ${token}` },
      redirect: "error",
      signal: AbortSignal.timeout(5_000),
    });
    if (response.status === 401 || response.status === 404) return "it has another METRICS_TOKEN, or none";
    return response.ok ? TelemetrySums.parse(await response.json()) : `HTTP ${String(response.status)}`;
  } catch {
    return "it does not answer";
  }
}

/** Three quarters were within this bound; values are known by their class alone. */
function formatPercentile({ classes }: TelemetrySum, unit: string): string {
  const totalCount = classes.reduce((total, classCount) => total + classCount, 0);
  if (totalCount === 0) return "";
  let cumulative = 0;
  const index = classes.findIndex((classCount) => (cumulative += classCount) >= totalCount * 0.75);
  const bound = telemetryBucketBounds[index];
  return bound === undefined
    ? `  more than a quarter above ${String(telemetryBucketBounds.at(-1))} ${unit}`
    : `  75 % within ${String(bound)} ${unit}`;
}
