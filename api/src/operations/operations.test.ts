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
    const broken = await startService();
    try {
      await rm(broken.objectsFolder, { recursive: true });
      expect(await broken.call("GET", "/readyz", null)).toMatchObject({
        status: 503,
        body: { code: "service_unavailable" },
      });
      expect((await broken.call("GET", "/healthz", null)).status).toBe(200);
    } finally {
      await broken.stop();
    }
  });

  it("is alive but not ready without its database, and says service_unavailable to everybody", async () => {
    const broken = await startService();
    const person = await broken.signIn();
    await broken.database.forceDrop();
    try {
      expect(await broken.call("GET", "/readyz", null)).toMatchObject({ status: 503 });
      const answer = await broken.call("GET", "/user/me", person.token);
      expect(answer).toMatchObject({ status: 503, body: { code: "service_unavailable" } });
      expect(answer.text).not.toMatch(/select|relation|database/i);
    } finally {
      await broken.stop();
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
    const own = await startMeasuredService();
    try {
      const person = await own.signIn();
      for (const wrongToken of [null, person.token, "t".repeat(31), `${token}t`]) {
        expect(await own.call("GET", "/metrics", wrongToken)).toMatchObject({
          status: 401,
          body: { code: "unauthorized" },
        });
      }
      expect((await own.call("GET", "/metrics", token, { remoteAddress: "198.51.100.1" })).status).toBe(200);
      expect(own.log()).not.toContain(token);
    } finally {
      await own.stop();
    }
  });

  it("counts by route, never by address", async () => {
    const own = await startMeasuredService();
    await own.call("GET", "/vendors/second?planted=1", null);
    const { text } = await own.call("GET", "/metrics", token);
    await own.stop();
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
    const store = paths["/secrets/store"]?.["post"];
    expect(store?.security).toEqual([{ session: [] }]);
    expect(Object.keys(store?.responses ?? {})).toEqual(
      expect.arrayContaining(["200", "401", "404", "409", "413", "415", "422", "429"]),
    );
    expect(paths["/auth/token"]?.["post"]).not.toHaveProperty("security");
  });
});

describe("every answer", () => {
  it("is a problem document with the request's id when something fails", async () => {
    const answer = await service.call("GET", "/nowhere", null);
    expect(answer).toMatchObject({ status: 404, headers: { "content-type": "application/problem+json" } });
    expect(answer.body).toEqual({
      type: "about:blank",
      title: "Not found",
      status: 404,
      code: "not_found",
      request_id: answer.headers["x-request-id"],
    });
  });

  it("is never stored, and has the portal's origin alone as a foreign one that may read it", async () => {
    const own = await service.call("GET", "/vendors/second", null, { headers: { origin: service.origin } });
    expect(own.headers).toMatchObject({
      "access-control-allow-origin": service.origin,
      "cache-control": "no-store",
      vary: "Origin",
    });
    const foreign = await service.call("GET", "/vendors/second", null, { headers: { origin: "https://evil.example" } });
    expect(foreign.headers).not.toHaveProperty("access-control-allow-origin");
  });

  it("answers the portal's preflight and nobody else's", async () => {
    const ask = (origin: string) =>
      service.call("OPTIONS", "/secrets/favorite", null, {
        headers: {
          origin,
          "access-control-request-method": "PATCH",
          "access-control-request-headers": "authorization,content-type",
        },
      });
    const own = await ask(service.origin);
    expect(own.status).toBe(204);
    expect(String(own.headers["access-control-allow-methods"])).toContain("PATCH");
    for (const header of ["authorization", "x-answer-token"])
      expect(String(own.headers["access-control-allow-headers"])).toContain(header);
    const foreign = await ask("https://evil.example");
    expect(foreign.status).toBe(404);
    expect(foreign.headers).not.toHaveProperty("access-control-allow-origin");
  });
});

describe("stopping", () => {
  it("is not ready first, and answers calls until those that send them had time to see it", async () => {
    let continueStop = (): void => undefined;
    const waits: number[] = [];
    const wait = (milliseconds: number, signal: AbortSignal): Promise<void> =>
      new Promise((resolve) => {
        waits.push(milliseconds);
        signal.addEventListener("abort", () => resolve(), { once: true });
        continueStop = resolve;
      });
    const stoppingService = await startService({ STOP_WAIT_SECONDS: "7" }, undefined, { wait });
    expect((await stoppingService.call("GET", "/readyz", null)).status).toBe(200);
    const address = await stoppingService.listen();
    const stopped = stoppingService.stop();
    expect(waits).toEqual([7_000]);
    expect(await stoppingService.call("GET", "/readyz", null)).toMatchObject({
      status: 503,
      body: { detail: "stopping" },
    });
    expect((await fetch(`${address}/vendors/second`)).status).toBe(200);
    continueStop();
    await stopped;
    await expect(fetch(`${address}/vendors/second`)).rejects.toThrow();
  });

  it("finishes the calls in flight, and cuts those that take longer than they may", async () => {
    const waits: number[] = [];
    const wait = (milliseconds: number): Promise<void> => {
      waits.push(milliseconds);
      return Promise.resolve(); // each time is over at once
    };
    const stoppingService = await startService({}, undefined, { wait });
    const { token } = await stoppingService.signIn();
    const faultInjector = await openFaultInjector(stoppingService.database.url);
    const address = await stoppingService.listen();
    await faultInjector.lockTable("accounts");
    const cutCall = fetch(`${address}/user/me`, { headers: { authorization: `Bearer ${token}` } });
    await faultInjector.waitForBlocked(1);
    const stopped = stoppingService.stop();
    await expect(cutCall).rejects.toThrow();
    expect(waits).toEqual([0, 20_000]);
    await faultInjector.release();
    await faultInjector.close();
    await stopped;
  });

  it("does not wait for a connection that was opened ahead and never used", async () => {
    const stoppingService = await startService({ STOP_DRAIN_SECONDS: "3600" });
    const { port } = new URL(await stoppingService.listen());
    const accepted = once(stoppingService.app.http.server, "connection");
    const unused = connect(Number(port), "127.0.0.1");
    await accepted;
    const closed = once(unused, "close");
    await stoppingService.stop();
    await closed;
  });
});
