import { maxListPageSize, telemetryBucketBounds, TelemetrySums, vitalMetrics } from "@relicario/shared/api";

type TelemetrySum = TelemetrySums["sums"][number];

/** Loads of remotes, web vitals by route and violations of the page's policy, of the last days. */
export async function formatTelemetry(service: string, token: string): Promise<string[]> {
  const result = await fetchSums(service, token);
  if (typeof result === "string") return [`The telemetry of ${service} cannot be shown: ${result}.`];
  const { days, sums } = result;
  if (sums.length === 0) return [`${service} has no telemetry of the last ${String(days)} days.`];
  const isVital = ({ phase }: TelemetrySum): boolean => vitalMetrics.some((metric) => metric === phase);
  return [
    `Telemetry of ${service} in ${String(days)} days:`,
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

/** Reads all pages. @returns why it failed, or the sums */
async function fetchSums(service: string, token: string): Promise<Omit<TelemetrySums, "next_cursor"> | string> {
  const sums: TelemetrySum[] = [];
  try {
    for (let cursor: string | null = null; ;) {
      const query = new URLSearchParams({ limit: String(maxListPageSize), ...(cursor === null ? {} : { cursor }) });
      const response = await fetch(`${service}/telemetry?${query.toString()}`, {
        headers: { authorization: `Bearer ${token}` },
        redirect: "error",
        signal: AbortSignal.timeout(5_000),
      });
      if (response.status === 401 || response.status === 404) return "it has another METRICS_TOKEN, or none";
      if (!response.ok) return `HTTP ${String(response.status)}`;
      const page = TelemetrySums.parse(await response.json());
      sums.push(...page.sums);
      if (page.next_cursor === null) return { days: page.days, sums };
      cursor = page.next_cursor;
    }
  } catch {
    return "it does not answer";
  }
}

/** Bound of the class of the 75th percentile; exact values are unknown. */
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
