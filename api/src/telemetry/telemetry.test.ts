import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { maxTelemetryEvents, telemetryBucketBounds, TelemetrySums } from "@relicario/shared/api";

import { measurements } from "../db/schema.ts";
import { readMetric, metricsToken } from "../testing/metrics.ts";
import { startService, type TestResponse, type TestService } from "../testing/service.ts";

const release = "secrets-0.3.1-0123456789ab";
const encodeJson = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString("base64url");
const releaseRecord = {
  release,
  manifest: { name: "secrets", routes: [{ path: "/home" }, { path: "/edit-secret/:secretId" }] },
};

let service: TestService;
let folder = "";
let clock = new Date("2026-11-20T12:00:00Z");
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "relicario-deployments-"));
  await writeFile(
    join(folder, "relicario.json"),
    JSON.stringify({
      payload: encodeJson({ release_records: { [release]: `head.${encodeJson(releaseRecord)}.signature` } }),
      signatures: [],
    }),
  );
  await writeFile(join(folder, "broken.json"), "{");
  service = await startService(
    {
      METRICS_TOKEN: metricsToken,
      DEPLOYMENTS_FOLDER: folder,
      APP_VERSION: "0.3.1",
      RATE_LIMITS: JSON.stringify({ policy_report: 5, telemetry_all: 100 }),
    },
    () => clock,
  );
});
afterAll(async () => {
  await service.stop();
  await rm(folder, { recursive: true });
});
beforeEach(async () => {
  await service.app.services.db.delete(measurements);
  clock = new Date(clock.getTime() + 60_000); // into the next rate limit window
});

const loadEvent = { remote: "secrets", release, phase: "load", duration_ms: 120 };
const sendTelemetry = (events: readonly object[], vitals: readonly object[] = []): Promise<TestResponse> =>
  service.call("POST", "/telemetry", null, { body: { events, vitals } });
const sendPolicyReport = (body: unknown, type: string): Promise<TestResponse> =>
  service.call("POST", "/reports/csp", null, { body: JSON.stringify(body), headers: { "content-type": type } });
const rows = () => service.app.services.db.select().from(measurements);
const readSums = async () => TelemetrySums.parse((await service.call("GET", "/telemetry", metricsToken)).body).sums;
const buildClassCounts = (...bucketIndexes: readonly number[]): number[] =>
  Array.from(
    { length: telemetryBucketBounds.length + 1 },
    (_, place) => bucketIndexes.filter((value) => value === place).length,
  );

describe("POST /telemetry", () => {
  it("adds loads, failures and web vitals to the day's sums, and stores no row per call", async () => {
    for (let calls = 0; calls < 2; calls++) {
      expect(
        (
          await sendTelemetry(
            [
              loadEvent,
              { ...loadEvent, duration_ms: 90_000, code: "remote_timed_out" },
              { ...loadEvent, phase: "render", duration_ms: undefined, code: "remote_crashed" },
            ],
            [{ remote: "secrets", release, route: "/home", metric: "LCP", value: 700 }],
          )
        ).status,
      ).toBe(202);
    }
    expect(await readSums()).toEqual([
      { remote: "secrets", release, phase: "LCP", route: "/home", code: "", count: 2, classes: buildClassCounts(3, 3) },
      { remote: "secrets", release, phase: "load", route: "", code: "", count: 2, classes: buildClassCounts(1, 1) },
      {
        remote: "secrets",
        release,
        phase: "load",
        route: "",
        code: "remote_timed_out",
        count: 2,
        classes: buildClassCounts(7, 7),
      },
      {
        remote: "secrets",
        release,
        phase: "render",
        route: "",
        code: "remote_crashed",
        count: 2,
        classes: buildClassCounts(),
      },
    ]);
    expect(
      await readMetric(
        service,
        "relicario_pages_total",
        `remote="secrets",release="${release}",phase="load",code="remote_timed_out"`,
      ),
    ).toBe(2);
    expect(service.readLog()).not.toContain("127.0.0.1");
  });

  it("shows durations in seconds", async () => {
    const { text } = await service.call("GET", "/metrics", metricsToken);
    expect(text).toMatch(/relicario_pages_seconds_bucket\{le="0\.1"/);
  });

  it("counts names in no signed document as other, so that invented names add no rows", async () => {
    const inventedLoads = Array.from({ length: maxTelemetryEvents }, (_, index) => ({
      ...loadEvent,
      remote: `made${String(index)}`,
      release: `made-${String(index)}`,
    }));
    const vitals = Array.from({ length: maxTelemetryEvents }, (_, index) => ({
      remote: "secrets",
      release,
      route: `/made/${String(index)}`,
      metric: "LCP",
      value: index,
    }));
    expect(
      (
        await sendTelemetry(
          [
            ...inventedLoads.slice(2),
            { ...loadEvent, remote: "sharing" },
            { ...loadEvent, remote: "host", release: "9.9.9" },
          ],
          [...vitals.slice(1), { remote: "host", release: "0.3.1", route: "/help", metric: "CLS", value: 3 }],
        )
      ).status,
    ).toBe(202);
    expect(
      (await readSums()).map(({ remote, release: releaseName, phase, route, count }) => [
        remote,
        releaseName,
        phase,
        route,
        count,
      ]),
    ).toEqual([
      ["host", "0.3.1", "CLS", "host", 1],
      ["host", "other", "load", "", 1],
      ["other", "other", "load", "", maxTelemetryEvents - 1],
      ["secrets", release, "LCP", "other", maxTelemetryEvents - 1],
    ]);
  });

  it("counts a release by its name once a document has it", async () => {
    const nextRelease = "secrets-0.3.2-ba9876543210";
    const documentFile = join(folder, "sample.json");
    await sendTelemetry([{ ...loadEvent, release: nextRelease }]);
    const nextRecord = { release: nextRelease, manifest: { name: "secrets", routes: [] } };
    await writeFile(
      documentFile,
      JSON.stringify({
        payload: encodeJson({ release_records: { [nextRelease]: `head.${encodeJson(nextRecord)}.signature` } }),
        signatures: [],
      }),
    );
    clock = new Date(clock.getTime() + 5_000);
    await sendTelemetry([{ ...loadEvent, release: nextRelease }]);
    expect((await readSums()).map(({ remote, release: releaseName, count }) => [remote, releaseName, count])).toEqual([
      ["other", "other", 1],
      ["secrets", nextRelease, 1],
    ]);
    await rm(documentFile);
    clock = new Date(clock.getTime() + 5_000);
    await sendTelemetry([
      { ...loadEvent, release: nextRelease },
      { ...loadEvent, release: "unknown" },
    ]); // pages may still run it
    expect((await readSums()).map(({ remote, count }) => [remote, count])).toEqual([
      ["other", 2],
      ["secrets", 2],
    ]);
  });

  it("refuses identifying values, and too many entries", async () => {
    for (const invalidBody of [
      { ...loadEvent, message: "of alba" },
      { ...loadEvent, user_id: "1" },
      { ...loadEvent, code: "my secret" },
      { ...loadEvent, phase: "typed" },
      { ...loadEvent, release: "a b" },
      { ...loadEvent, duration_ms: -1 },
    ]) {
      expect((await sendTelemetry([invalidBody])).status).toBe(422);
    }
    for (const invalidBody of [
      { ...loadEvent, remote: ["secrets"] },
      { ...loadEvent, remote: { toString: "secrets" } },
      { ...loadEvent, release: null },
      { ...loadEvent, duration_ms: "120" },
      { ...loadEvent, duration_ms: 1.5 },
      { ...loadEvent, duration_ms: 1e300 },
      "load",
      null,
      [],
    ]) {
      expect(
        (await service.call("POST", "/telemetry", null, { body: { events: [invalidBody], vitals: [] } })).status,
      ).toBe(422);
    }
    expect(
      (
        await sendTelemetry(
          [],
          [{ remote: "secrets", release, route: "/edit-secret/1?token=2#3", metric: "LCP", value: 1 }],
        )
      ).status,
    ).toBe(422);
    expect((await sendTelemetry(Array.from({ length: maxTelemetryEvents + 1 }, () => loadEvent))).status).toBe(422);
    expect(await rows()).toEqual([]);
  });

  it("refuses large bodies, of pages and of browsers", async () => {
    expect((await sendTelemetry([{ ...loadEvent, release: "r".repeat(1_024 * maxTelemetryEvents) }])).status).toBe(413);
    expect(
      (
        await sendPolicyReport(
          Array.from({ length: 30 }, () => ({ type: "csp-violation", body: { originalPolicy: "p".repeat(1_500) } })),
          "application/reports+json",
        )
      ).status,
    ).toBe(204);
    await service.app.services.db.delete(measurements);
    expect(
      (
        await sendPolicyReport(
          [{ type: "csp-violation", body: { sourceFile: "s".repeat(70_000) } }],
          "application/reports+json",
        )
      ).status,
    ).toBe(413);
    expect(
      (await sendPolicyReport({ "csp-report": { "source-file": "s".repeat(70_000) } }, "application/csp-report"))
        .status,
    ).toBe(413);
    expect(await rows()).toEqual([]);
  });

  it("adds up concurrent calls", async () => {
    await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        sendTelemetry(
          index % 2 === 0 ? [loadEvent, { ...loadEvent, phase: "page" }] : [{ ...loadEvent, phase: "page" }, loadEvent],
        ),
      ),
    );
    expect((await readSums()).map(({ phase, count }) => [phase, count])).toEqual([
      ["load", 20],
      ["page", 20],
    ]);
  });

  it("is limited per IP address; beyond the global limit calls are accepted but not counted", async () => {
    const statuses: number[] = [];
    for (let calls = 0; calls < 125; calls++) statuses.push((await sendTelemetry([loadEvent])).status);
    expect(statuses.filter((status) => status === 202)).toHaveLength(120);
    expect(statuses.slice(-5)).toEqual([429, 429, 429, 429, 429]);
    expect((await readSums())[0]?.count).toBe(100);
  });

  it("deletes sums after 30 days, and returns those of seven", async () => {
    await sendTelemetry([loadEvent]);
    const now = clock;
    try {
      for (const [days, sumCount, rowCount] of [
        [6, 1, 1],
        [1, 0, 1],
        [23, 0, 1],
        [1, 0, 0],
      ] as const) {
        clock = new Date(clock.getTime() + days * 86_400_000);
        await service.app.sweep();
        expect([days, (await readSums()).length, (await rows()).length]).toEqual([days, sumCount, rowCount]);
      }
    } finally {
      clock = now;
    }
  });
});

describe("GET /telemetry", () => {
  it("gives sums of all days in pages, each once", async () => {
    const vital = { remote: "secrets", release, route: "/edit-secret/:secretId", metric: "LCP", value: 700 };
    for (let day = 0; day < 2; day++) {
      await sendTelemetry(
        [loadEvent, { ...loadEvent, code: "remote_timed_out" }],
        [vital, { ...vital, metric: "CLS" }],
      );
      clock = new Date(clock.getTime() + 86_400_000);
    }
    const pages: TelemetrySums[] = [];
    for (let cursor: string | null = ""; cursor !== null; cursor = pages.at(-1)?.next_cursor ?? null) {
      const query = `limit=3${cursor === "" ? "" : `&cursor=${encodeURIComponent(cursor)}`}`;
      pages.push(TelemetrySums.parse((await service.call("GET", `/telemetry?${query}`, metricsToken)).body));
    }
    expect(pages.map(({ sums }) => sums.length)).toEqual([3, 1]);
    const sums = pages.flatMap((page) => page.sums);
    expect(sums).toEqual(await readSums());
    expect(sums.map(({ phase, code, count }) => [phase, code, count]).toSorted()).toEqual([
      ["CLS", "", 2],
      ["LCP", "", 2],
      ["load", "", 2],
      ["load", "remote_timed_out", 2],
    ]);
    for (const query of ["limit=0", "cursor=x", "cursor=%00,,,,"])
      expect((await service.call("GET", `/telemetry?${query}`, metricsToken)).status).toBe(422);
  });

  it("needs METRICS_TOKEN, and is missing when none is configured", async () => {
    expect((await service.call("GET", "/telemetry", null)).status).toBe(401);
    expect((await service.call("GET", "/telemetry", "x".repeat(32))).status).toBe(401);
    const serviceWithoutToken = await startService();
    expect((await serviceWithoutToken.call("GET", "/telemetry", "x".repeat(32))).status).toBe(404);
    await serviceWithoutToken.stop();
  });
});

describe("POST /reports/csp", () => {
  const origin = "http://localhost:3000";
  const buildViolation = (body: object) => ({
    type: "csp-violation",
    age: 1,
    url: `${origin}/edit-secret/1#key`,
    user_agent: "Somebody's",
    body: { documentURL: `${origin}/edit-secret/1?q=2`, ...body },
  });

  it("counts both report formats by remote and directive, and stores no address", async () => {
    const remoteViolation = {
      effectiveDirective: "connect-src",
      sourceFile: `${origin}/r/secrets/${release}/913.js?a=1`,
      blockedURL: "https://elsewhere.example/?who=alba",
    };
    expect(
      (
        await sendPolicyReport(
          [
            buildViolation(remoteViolation),
            buildViolation({
              effectiveDirective: "img-src",
              sourceFile: `${origin}/static/main.js`,
              blockedURL: "data",
            }),
            { type: "deprecation", body: {} },
          ],
          "application/reports+json",
        )
      ).status,
    ).toBe(204);
    const legacyReport = {
      "document-uri": `${origin}/home`,
      "violated-directive": "connect-src 'self'",
      "source-file": `${origin}/r/secrets/${release}/913.js`,
      "blocked-uri": "https://elsewhere.example",
    };
    expect((await sendPolicyReport({ "csp-report": legacyReport }, "application/csp-report")).status).toBe(204);
    const countedRows = (await rows())
      .map(({ remote, release: releaseName, phase, code, count }) => [remote, releaseName, phase, code, count])
      .toSorted();
    expect(countedRows).toEqual([
      ["host", "0.3.1", "csp", "img-src", 1],
      ["secrets", release, "csp", "connect-src", 2],
    ]);
    expect(JSON.stringify(await rows())).not.toMatch(/example|alba|edit-secret|#key|Somebody/);
  });

  it("counts unknown directives as other, a few per call, and limits calls per IP address", async () => {
    const unknownReports = Array.from({ length: 60 }, (_, index) =>
      buildViolation({
        effectiveDirective: `made-${String(index)}`,
        sourceFile: `https://made.example/r/made${String(index)}/x/y.js`,
      }),
    );
    expect((await sendPolicyReport(unknownReports, "application/reports+json")).status).toBe(204);
    expect((await rows()).map(({ remote, code, count }) => [remote, code, count])).toEqual([["other", "other", 20]]);
    expect((await sendPolicyReport("nothing", "application/csp-report")).status).toBe(422);
    const statuses = [];
    for (let calls = 0; calls < 4; calls++)
      statuses.push((await sendPolicyReport([], "application/reports+json")).status);
    expect(statuses).toEqual([204, 204, 204, 429]);
  });
});
