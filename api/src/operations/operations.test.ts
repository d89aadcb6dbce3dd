import { once } from "node:events";
import { rm } from "node:fs/promises";
import { connect } from "node:net";

import { openFaultInjector } from "../testing/database-faults.ts";
import { metricsToken } from "../testing/metrics.ts";
import { startService, type TestService } from "../testing/service.ts";

let service: TestService;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());

describe("health and readiness", () => {
  it("answers that it is alive and ready", async () => {
    expect(await service.call("GET", "/healthz", null)).toMatchObject({ status: 200, body: { status: "ok" } });
    expect(await service.call("GET", "/readyz", null)).toMatchObject({ status: 200, body: { status: "ok" } });
  });

  it("is alive but not ready without its objects", async () => {
    const brokenService = await startService();
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

  it("is alive but not ready without its database, and says service_unavailable to everybody", async () => {
    const brokenService = await startService();
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

  it("is not there without a token of its own, whoever asks", async () => {
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

  it("answers nobody but who has it, wherever they call from", async () => {
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
      expect(measuredService.log()).not.toContain(token);
    } finally {
      await measuredService.stop();
    }
  });

  it("counts by route, never by address", async () => {
    const measuredService = await startMeasuredService();
    await measuredService.call("GET", "/vendors/second?planted=1", null);
    const { text } = await measuredService.call("GET", "/metrics", token);
    await measuredService.stop();
    expect(text).toMatch(/relicario_answers_total\{method="GET",route="\/vendors\/:id",status="\d+"\} \d+/);
    expect(text).not.toMatch(/vendors\/second|planted/);
    expect(text).toContain('le="+Inf"');
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
  });
});

describe("every answer", () => {
  it("is a problem document with the request's id when something fails", async () => {
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

  it("is never stored, and has the portal's origin alone as a foreign one that may read it", async () => {
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

  it("answers the portal's preflight and nobody else's", async () => {
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
  it("is not ready first, and answers calls until those that send them had time to see it", async () => {
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

  it("finishes the calls in flight, and cuts those that take longer than they may", async () => {
    const waitedMilliseconds: number[] = [];
    const wait = (milliseconds: number): Promise<void> => {
      waitedMilliseconds.push(milliseconds);
      return Promise.resolve(); // each time is over at once
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

  it("does not wait for a connection that was opened ahead and never used", async () => {
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
