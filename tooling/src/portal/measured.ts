import { telemetryBounds, TelemetrySums, vitalMetrics } from "@relicario/shared/api";

type Sum = TelemetrySums["sums"][number];

/**
 * What pages told the service of the last days, as lines for a person: loads of remotes, web vitals
 * by route, violations of the page's policy.
 */
export async function measuredLines(service: string, token: string): Promise<string[]> {
  const answer = await read(service, token);
  if (typeof answer === "string") return [`What pages told ${service} cannot be shown: ${answer}.`];
  const { days, sums } = answer;
  if (sums.length === 0) return [`Pages told ${service} nothing in ${String(days)} days.`];
  const isVital = ({ phase }: Sum): boolean => vitalMetrics.some((metric) => metric === phase);
  return [
    `What pages told ${service} in ${String(days)} days:`,
    ...sums
      .filter((sum) => !isVital(sum) && sum.phase !== "csp")
      .map(
        (sum) =>
          `  ${sum.remote}  ${sum.release}  ${sum.phase}  ${sum.code === "" ? "ok" : sum.code}  ${String(sum.count)}${within(sum, "ms")}`,
      ),
    ...sums
      .filter(isVital)
      .map(
        (sum) =>
          `  ${sum.remote}  ${sum.release}  ${sum.route}  ${sum.phase}  ${String(sum.count)}${within(sum, sum.phase === "CLS" ? "thousandths" : "ms")}`,
      ),
    ...sums
      .filter(({ phase }) => phase === "csp")
      .map(({ remote, release, code, count }) => `  ${remote}  ${release}  violated ${code}  ${String(count)}`),
  ];
}

async function read(service: string, token: string): Promise<TelemetrySums | string> {
  try {
    const answer = await fetch(`${service}/telemetry`, {
      headers: { authorization: `Bearer ${token}` },
      redirect: "error",
      signal: AbortSignal.timeout(5_000),
    });
    if (answer.status === 401 || answer.status === 404) return "it has another METRICS_TOKEN, or none";
    return answer.ok ? TelemetrySums.parse(await answer.json()) : `HTTP ${String(answer.status)}`;
  } catch {
    return "it does not answer";
  }
}

/** Three quarters were within this bound; values are known by their class alone. */
function within({ classes }: Sum, unit: string): string {
  const all = classes.reduce((total, one) => total + one, 0);
  if (all === 0) return "";
  let seen = 0;
  const at = classes.findIndex((one) => (seen += one) >= all * 0.75);
  const bound = telemetryBounds[at];
  return bound === undefined
    ? `  more than a quarter above ${String(telemetryBounds.at(-1))} ${unit}`
    : `  75 % within ${String(bound)} ${unit}`;
}
