import { telemetryBucketBounds } from "@relicario/shared/api";
import fastify, { type FastifyInstance } from "fastify";

import { formatTelemetry } from "./telemetry-summary.ts";

const token = "t".repeat(32);
const release = "secrets-0.3.1-0123456789ab";
const buildClasses = (...counts: readonly number[]): number[] =>
  telemetryBucketBounds.map((_, index) => counts[index] ?? 0).concat(counts[telemetryBucketBounds.length] ?? 0);
const sumsPerPage = 2;
const baseSum = { remote: "secrets", release, route: "", code: "", classes: buildClasses(), count: 1 };

describe("formatTelemetry", () => {
  let service: FastifyInstance;
  let address = "";
  let sums: unknown[] = [];
  beforeAll(async () => {
    service = fastify();
    service.get<{ Querystring: { cursor?: string } }>("/telemetry", async ({ headers, query: { cursor } }, reply) => {
      if (headers.authorization !== `Bearer ${token}`) return reply.code(401).send();
      const start = Number(cursor?.split(",")[1] ?? 0);
      const end = start + sumsPerPage;
      return { days: 7, sums: sums.slice(start, end), next_cursor: end < sums.length ? `,${String(end)},,,` : null };
    });
    address = await service.listen({ host: "127.0.0.1", port: 0 });
  });
  afterAll(() => service.close());

  it("lists loads, failures, vitals by route and violations, with the bound of the 75th percentile", async () => {
    sums = [
      { ...baseSum, phase: "load", count: 4, classes: buildClasses(2, 1, 0, 1) },
      { ...baseSum, phase: "load", code: "remote_timed_out", classes: buildClasses(0, 0, 0, 0, 0, 0, 0, 1) },
      { ...baseSum, phase: "render", code: "remote_crashed" },
      { ...baseSum, phase: "CLS", route: "/home", classes: buildClasses(1) },
      { ...baseSum, phase: "csp", code: "connect-src", count: 2 },
    ];
    expect(await formatTelemetry(address, token)).toEqual([
      `Telemetry of ${address} in 7 days:`,
      `  secrets  ${release}  load  ok  4  75 % within 250 ms`,
      `  secrets  ${release}  load  remote_timed_out  1  more than a quarter above 10000 ms`,
      `  secrets  ${release}  render  remote_crashed  1`,
      `  secrets  ${release}  /home  CLS  1  75 % within 100 thousandths`,
      `  secrets  ${release}  violated connect-src  2`,
    ]);
  });

  it("says why there is nothing to show", async () => {
    sums = [];
    expect(await formatTelemetry(address, token)).toEqual([`${address} has no telemetry of the last 7 days.`]);
    expect(await formatTelemetry(address, "x")).toEqual([
      `The telemetry of ${address} cannot be shown: it has another METRICS_TOKEN, or none.`,
    ]);
    expect(await formatTelemetry("http://127.0.0.1:1", token)).toEqual([
      "The telemetry of http://127.0.0.1:1 cannot be shown: it does not answer.",
    ]);
  });
});
