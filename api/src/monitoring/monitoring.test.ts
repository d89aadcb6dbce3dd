import { once } from "node:events";
import { readFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { connect } from "node:net";
import { join } from "node:path";

import { queueMail } from "../mail/mailer.ts";
import { openFaultInjector } from "../testing/database-faults.ts";
import { metricsToken } from "../testing/metrics.ts";
import { startService, type TestService } from "../testing/service.ts";

let service: TestService;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());

describe("health and readiness", () => {
  it("are both reported", async () => {
    expect(await service.call("GET", "/healthz", null)).toMatchObject({ status: 200, body: { status: "ok" } });
    expect(await service.call("GET", "/readyz", null)).toMatchObject({ status: 200, body: { status: "ok" } });
  });

  it("differ without the object store: alive, not ready", async () => {
    const brokenService = await startService({}, undefined, { inFolder: true });
    try {
      await rm(brokenService.objectsFolder, { recursive: true });
      expect(await brokenService.call("GET", "/readyz", null)).toMatchObject({
        status: 503,
        body: { code: "service_unavailable" },
      });
      expect((await brokenService.call("GET", "/healthz", null)).status).toBe(200);
    } finally {
      await brokenService.stop();
    }
  });

  it("differ without the database: alive, not ready, and calls get service_unavailable", async () => {
    const brokenService = await startService({}, undefined, { inFolder: true });
    const person = await brokenService.signIn();
    await brokenService.database.forceDrop();
    try {
      expect(await brokenService.call("GET", "/readyz", null)).toMatchObject({ status: 503 });
      const response = await brokenService.call("GET", "/user/me", person.token);
      expect(response).toMatchObject({ status: 503, body: { code: "service_unavailable" } });
      expect(response.text).not.toMatch(/select|relation|database/i);
    } finally {
      await brokenService.stop();
    }
  });
});

describe("GET /metrics", () => {
  const token = metricsToken;
  const startMeasuredService = () => startService({ METRICS_TOKEN: token });

  it("is missing when no token is configured", async () => {
    for (const [authorization, remoteAddress] of [
      ["", "127.0.0.1"],
      [`Bearer ${token}`, "127.0.0.1"],
      ["", "198.51.100.1"],
    ] as const) {
      expect(await service.call("GET", "/metrics", null, { remoteAddress, headers: { authorization } })).toMatchObject({
        status: 404,
        body: { code: "not_found" },
      });
    }
  });

  it("needs the token, from any address", async () => {
    const measuredService = await startMeasuredService();
    try {
      const person = await measuredService.signIn();
      for (const wrongToken of [null, person.token, "t".repeat(31), `${token}t`]) {
        expect(await measuredService.call("GET", "/metrics", wrongToken)).toMatchObject({
          status: 401,
          body: { code: "unauthorized" },
        });
      }
      expect((await measuredService.call("GET", "/metrics", token, { remoteAddress: "198.51.100.1" })).status).toBe(
        200,
      );
      expect(measuredService.readLog()).not.toContain(token);
    } finally {
      await measuredService.stop();
    }
  });

  it("counts by route, not by path", async () => {
    const measuredService = await startMeasuredService();
    await measuredService.call("GET", "/vendors/second?planted=1", null);
    const { text } = await measuredService.call("GET", "/metrics", token);
    await measuredService.stop();
    expect(text).toMatch(
      /http_server_request_duration_seconds_count\{http_request_method="GET",http_route="\/vendors\/:id",http_response_status_code="200"\} 1\n/,
    );
    expect(text).not.toMatch(/vendors\/second|planted/);
    expect(text).toContain('le="+Inf"');
  });
});

describe("metrics", () => {
  it("measure process, event loop and connections to the database", async () => {
    const measuredService = await startService({ METRICS_TOKEN: metricsToken });
    await measuredService.signIn();
    const { text } = await measuredService.call("GET", "/metrics", metricsToken);
    await measuredService.stop();
    for (const line of [
      /^process_cpu_seconds_total \d/m,
      /^process_resident_memory_bytes \d/m,
      /^nodejs_eventloop_lag_p99_seconds \d/m,
      /^db_client_connection_count\{state="idle"\} [1-9]/m,
      /^db_client_connection_pending_requests 0$/m,
    ])
      expect(text).toMatch(line);
  });
});

describe("the operator's documentation", () => {
  it("names every metric of the service", async () => {
    const measuredService = await startService({ METRICS_TOKEN: metricsToken });
    const { text } = await measuredService.call("GET", "/metrics", metricsToken);
    await measuredService.stop();
    const documentation = readFileSync(join(__dirname, "../../../docs/operations.md"), "utf8");
    const names = [...text.matchAll(/^# TYPE (?!process_|nodejs_)(\S+) /gm)].map(([, name = ""]) => name);
    expect(names.length).toBeGreaterThan(10);
    expect(names.filter((name) => !documentation.includes(`\`${name}\``))).toEqual([]);
  });
});

describe("metrics of what the service depends on", () => {
  const readMetrics = async (measuredService: TestService): Promise<string> => {
    const { status, text } = await measuredService.call("GET", "/metrics", metricsToken);
    expect(status).toBe(200);
    return text;
  };

  it("are 1 while database, object store and identity provider answer", async () => {
    const measuredService = await startService({ METRICS_TOKEN: metricsToken });
    const text = await readMetrics(measuredService);
    await measuredService.stop();
    for (const dependency of ["database", "object_store", "identity_provider"])
      expect(text).toContain(`relicario_dependency_up{dependency="${dependency}"} 1\n`);
  });

  it("are 0 while they do not, and the other metrics are still there", async () => {
    const brokenService = await startService(
      { METRICS_TOKEN: metricsToken, IDP_AUTHORITY: "http://127.0.0.1:1/realms/relicario" },
      undefined,
      { inFolder: true },
    );
    await rm(brokenService.objectsFolder, { recursive: true });
    await brokenService.database.forceDrop();
    const text = await readMetrics(brokenService);
    await brokenService.stop();
    for (const dependency of ["database", "object_store", "identity_provider"])
      expect(text).toContain(`relicario_dependency_up{dependency="${dependency}"} 0\n`);
    expect(text).not.toMatch(/^relicario_mail_queue_/m);
    expect(text).toMatch(/^process_cpu_seconds_total \d/m);
  });

  it("show how many mails wait and since when", async () => {
    const measuredService = await startService({ METRICS_TOKEN: metricsToken });
    const { db, now } = measuredService.app.services;
    expect(await readMetrics(measuredService)).toMatch(
      /^relicario_mail_queue_length 0$[^]*^relicario_mail_queue_age_seconds 0$/m,
    );
    const person = await measuredService.signIn();
    await db.transaction((tx) =>
      queueMail(tx, person.userId, "openers_changed", { now: new Date(now().getTime() - 90_000) }),
    );
    const text = await readMetrics(measuredService);
    await measuredService.stop();
    expect(text).toMatch(/^relicario_mail_queue_length 1$/m);
    expect(text).toMatch(/^relicario_mail_queue_age_seconds 9\d(\.\d+)?$/m);
  });

  it("count exchanges that fail, by the problem's code", async () => {
    const measuredService = await startService({ METRICS_TOKEN: metricsToken });
    await measuredService.signIn();
    const exchange = (vendorId: string) =>
      measuredService.call("POST", `/auth/token?app_vendor_id=${vendorId}`, null, { body: { token: "not.a.token" } });
    await exchange("relicario");
    await exchange("closed");
    const text = await readMetrics(measuredService);
    await measuredService.stop();
    expect(text.match(/^relicario_exchange_failures_total.*$/gm)).toEqual([
      'relicario_exchange_failures_total{code="token_invalid"} 1',
      'relicario_exchange_failures_total{code="vendor_disabled"} 1',
    ]);
  });
});

describe("GET /openapi.json", () => {
  it("describes the calls with their problems and who needs a session", async () => {
    const { body } = await service.call("GET", "/openapi.json", null);
    expect(body).toMatchObject({ openapi: "3.1.0", info: { version: "0.1.0" } });
    const paths = body["paths"] as Record<
      string,
      Record<string, { security?: unknown; responses: Record<string, unknown> }>
    >;
    const storeOperation = paths["/secrets/store"]?.["post"];
    expect(storeOperation?.security).toEqual([{ session: [] }]);
    expect(Object.keys(storeOperation?.responses ?? {})).toEqual(
      expect.arrayContaining(["200", "401", "404", "409", "413", "415", "422", "429"]),
    );
    expect(paths["/auth/token"]?.["post"]).not.toHaveProperty("security");
    expect(Object.keys((storeOperation?.responses["404"] as { content: object }).content)).toEqual([
      "application/problem+json",
    ]);
  });

  it("gives every list a limit and a cursor, or a number of items that it never exceeds", async () => {
    interface Schema {
      readonly type?: string;
      readonly maxItems?: number;
      readonly properties?: Readonly<Record<string, Schema>>;
      readonly anyOf?: readonly Schema[];
    }
    interface Operation {
      readonly parameters?: readonly { readonly name: string }[];
      readonly responses: Readonly<Record<string, { readonly content?: Readonly<Record<string, { schema: Schema }>> }>>;
    }
    const { body } = await service.call("GET", "/openapi.json", null);
    const paths = body["paths"] as Record<string, Record<string, Operation>>;
    const endlessLists = Object.entries(paths).flatMap(([path, operations]) =>
      Object.entries(operations).flatMap(([method, { parameters = [], responses }]) => {
        const properties = responses["200"]?.content?.["application/json"]?.schema.properties ?? {};
        const names = parameters.map(({ name }) => name);
        const hasPages = ["limit", "cursor"].every((name) => names.includes(name)) && "next_cursor" in properties;
        return Object.entries(properties)
          .filter(([, schema]) => [schema, ...(schema.anyOf ?? [])].some(isEndless))
          .filter(() => !hasPages)
          .map(([property]) => `${method} ${path}: ${property}`);
      }),
    );
    expect(endlessLists).toEqual([]);

    function isEndless({ type, maxItems }: Schema): boolean {
      return type === "array" && maxItems === undefined;
    }
  });
});

describe("every response", () => {
  it("is a problem document with the request's id on failure", async () => {
    const response = await service.call("GET", "/nowhere", null);
    expect(response).toMatchObject({ status: 404, headers: { "content-type": "application/problem+json" } });
    expect(response.body).toEqual({
      type: "about:blank",
      title: "Not found",
      status: 404,
      code: "not_found",
      request_id: response.headers["x-request-id"],
    });
  });

  it("is not cached, and readable by the portal's origin only", async () => {
    const sameOriginResponse = await service.call("GET", "/vendors/second", null, {
      headers: { origin: service.origin },
    });
    expect(sameOriginResponse.headers).toMatchObject({
      "access-control-allow-origin": service.origin,
      "cache-control": "no-store",
      vary: "Origin",
    });
    const foreignResponse = await service.call("GET", "/vendors/second", null, {
      headers: { origin: "https://evil.example" },
    });
    expect(foreignResponse.headers).not.toHaveProperty("access-control-allow-origin");
  });

  it("allows the preflight of the portal only", async () => {
    const callFromOrigin = (origin: string) =>
      service.call("OPTIONS", "/secrets/favorite", null, {
        headers: {
          origin,
          "access-control-request-method": "PATCH",
          "access-control-request-headers": "authorization,content-type",
        },
      });
    const sameOriginResponse = await callFromOrigin(service.origin);
    expect(sameOriginResponse.status).toBe(204);
    expect(String(sameOriginResponse.headers["access-control-allow-methods"])).toContain("PATCH");
    for (const header of ["authorization", "x-answer-token"])
      expect(String(sameOriginResponse.headers["access-control-allow-headers"])).toContain(header);
    const foreignResponse = await callFromOrigin("https://evil.example");
    expect(foreignResponse.status).toBe(404);
    expect(foreignResponse.headers).not.toHaveProperty("access-control-allow-origin");
  });
});

describe("stopping", () => {
  it("turns readiness off first, and still answers calls for a while", async () => {
    let continueStop = (): void => undefined;
    const waitedMilliseconds: number[] = [];
    const wait = (milliseconds: number, signal: AbortSignal): Promise<void> =>
      new Promise((resolve) => {
        waitedMilliseconds.push(milliseconds);
        signal.addEventListener("abort", () => resolve(), { once: true });
        continueStop = resolve;
      });
    const stoppingService = await startService({ STOP_WAIT_SECONDS: "7" }, undefined, { wait });
    expect((await stoppingService.call("GET", "/readyz", null)).status).toBe(200);
    const address = await stoppingService.listen();
    const stopPromise = stoppingService.stop();
    expect(waitedMilliseconds).toEqual([7_000]);
    expect(await stoppingService.call("GET", "/readyz", null)).toMatchObject({
      status: 503,
      body: { detail: "stopping" },
    });
    expect((await fetch(`${address}/vendors/second`)).status).toBe(200);
    continueStop();
    await stopPromise;
    await expect(fetch(`${address}/vendors/second`)).rejects.toThrow();
  });

  it("finishes calls in flight, and cuts those beyond the limit", async () => {
    const waitedMilliseconds: number[] = [];
    const wait = (milliseconds: number): Promise<void> => {
      waitedMilliseconds.push(milliseconds);
      return Promise.resolve(); // every wait ends at once
    };
    const stoppingService = await startService({}, undefined, { wait });
    const { token } = await stoppingService.signIn();
    const faultInjector = await openFaultInjector(stoppingService.database.url);
    const address = await stoppingService.listen();
    await faultInjector.lockTable("accounts");
    const interruptedCall = fetch(`${address}/user/me`, { headers: { authorization: `Bearer ${token}` } });
    await faultInjector.waitForBlocked(1);
    const stopPromise = stoppingService.stop();
    await expect(interruptedCall).rejects.toThrow();
    expect(waitedMilliseconds).toEqual([0, 20_000]);
    await faultInjector.release();
    await faultInjector.close();
    await stopPromise;
  });

  it("does not wait for an unused connection", async () => {
    const stoppingService = await startService({ STOP_DRAIN_SECONDS: "3600" });
    const { port } = new URL(await stoppingService.listen());
    const connectionAccepted = once(stoppingService.app.http.server, "connection");
    const unusedConnection = connect(Number(port), "127.0.0.1");
    await connectionAccepted;
    const connectionClosed = once(unusedConnection, "close");
    await stoppingService.stop();
    await connectionClosed;
  });
});
