/**
 * What one person can do to the others through the gateway. Real sockets; `X-Forwarded-For` of a
 * trusted hop makes different people of one machine.
 */
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import {
  createServer,
  request,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from "node:http";
import { connect, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { setTimeout as pause } from "node:timers/promises";

import type { FastifyInstance } from "fastify";

import { TrustedProxies } from "./address.ts";
import { buildGateway } from "./gateway.ts";
import { defaultLimits, type ServeLimits } from "./limits.ts";
import { buildRemoteServer } from "./remote-server.ts";
import { getPort } from "./serve.ts";

const origin = "http://localhost:3000";
const key = { kid: "k", kty: "OKP", crv: "Ed25519", x: "A".repeat(43) } as const;
const trustAnchors = { vendor_id: "relicario", portal_keys: [key], team_keys: { secrets: [key] } };
const mebibyte = 1024 * 1024;
const large = Buffer.alloc(32 * mebibyte, " ");
const [attacker, person] = ["203.0.113.1", "198.51.100.7"];
/** More than the 128 connections that a pool has by default. */
const connectionCount = 130;

interface TestResponse {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

describe("neighbours at the gateway", () => {
  let folder: string;
  let service: Server;
  const gateways: FastifyInstance[] = [];
  const sockets: Socket[] = [];
  const receivedRequests: IncomingMessage[] = [];
  const downloads: ServerResponse[] = [];
  let handleRefuse: (incoming: IncomingMessage, response: ServerResponse) => void;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "neighbours-"));
    mkdirSync(join(folder, "releases/r"), { recursive: true });
    writeFileSync(
      join(folder, "index.html"),
      '<!doctype html><script type="application/json" id="portal-page"></script>',
    );
    writeFileSync(join(folder, "releases/r/large.json"), large);
    service = createServer((incoming, response) => {
      receivedRequests.push(incoming);
      if (incoming.url === "/refuse") {
        handleRefuse(incoming, response);
        return;
      }
      if (incoming.url === "/never") return;
      if (incoming.url === "/large" || incoming.url === "/endless" || incoming.url?.startsWith("/v2")) {
        const endless = incoming.url === "/endless";
        downloads.push(
          response.writeHead(200, {
            "content-type": "application/octet-stream",
            ...(!endless && { "content-length": large.length }),
          }),
        );
        if (endless) response.write("a");
        else response.end(large);
        return;
      }
      incoming.resume().once("end", () => {
        response.writeHead(200, { "content-type": "application/json" }).end("{}");
      });
    });
    service.listen(0, "127.0.0.1");
    await once(service, "listening");
  });
  afterEach(async () => {
    for (const socket of sockets.splice(0)) socket.destroy();
    await Promise.all(gateways.splice(0).map((gateway) => gateway.close()));
    receivedRequests.length = 0;
    downloads.length = 0;
  });
  afterAll(() => {
    service.closeAllConnections();
    service.close();
    rmSync(folder, { recursive: true, force: true });
  });

  async function startGateway(limits: Partial<ServeLimits> = {}, trustedProxies = "loopback"): Promise<number> {
    const gateway = await buildGateway({
      ...{
        origin,
        hostFolder: folder,
        deploymentsFolder: folder,
        page: trustAnchors,
        identityOrigin: origin,
        apiBase: `${origin}/api`,
      },
      service: `http://127.0.0.1:${String(getListeningPort(service))}`,
      remotes: new Map([["secrets", `http://127.0.0.1:${String(getListeningPort(service))}`]]),
      trustedProxies: TrustedProxies.parse(trustedProxies),
      limits: { ...defaultLimits, ...limits },
      logFailure: () => undefined,
    });
    gateways.push(gateway);
    await gateway.listen({ host: "127.0.0.1", port: 0 });
    return getPort(gateway);
  }

  /** A connection that sends these bytes and then nothing more. */
  async function openSocket(port: number, head: string, ...bodies: (string | Buffer)[]): Promise<Socket> {
    const socket = connect(port, "127.0.0.1").on("error", () => undefined);
    sockets.push(socket);
    await once(socket, "connect");
    for (const bytes of [head.trim().replaceAll(/\n\s*/g, "\r\n") + "\r\n\r\n", ...bodies])
      await new Promise((resolve) => socket.write(bytes, resolve));
    return socket;
  }
  const post = (path: string, type: string, length: number, from: string = attacker): string => `POST ${path} HTTP/1.1
    Host: localhost:3000
    X-Forwarded-For: ${from}
    Content-Type: ${type}
    Content-Length: ${String(length)}`;
  /** How many the gateway at this port has. */
  const countConnections = (port: number): Promise<number> =>
    new Promise((resolve, reject) => {
      const gateway = gateways.find((candidate) => getPort(candidate) === port);
      gateway?.server.getConnections((error, count) => {
        if (error === null) resolve(count);
        else reject(error);
      });
    });
  const formType = "multipart/form-data; boundary=b";

  describe("a part that the service refuses before it has read it", () => {
    it.each([
      [formType, 300_000],
      [formType, 60_000],
      ["application/json", 300_000],
    ])("leaves no connection on which somebody else waits: %s, %d bytes", async (type, bytes) => {
      const port = await startGateway();
      handleRefuse = (incoming, response) => {
        // One that never reads the rest. It answers when the gateway has sent everything.
        incoming.once("data", () => {
          incoming.pause();
          setTimeout(() => response.writeHead(422, { "content-type": "application/problem+json" }).end("{}"), 20);
        });
      };
      const refused = await Promise.all(
        Array.from({ length: 20 }, () =>
          call(port, "/api/refuse", { from: attacker, type, body: Buffer.alloc(bytes) }),
        ),
      );
      expect(new Set(refused.map(({ status }) => status))).toEqual(new Set([422]));
      const responses = await Promise.all(Array.from({ length: 40 }, () => call(port, "/api/ok", { from: person })));
      expect(responses.map(({ status }) => status)).toEqual(responses.map(() => 200));
    });

    it("is answered though its body is still under way, and its connection goes on", async () => {
      const port = await startGateway();
      handleRefuse = (_call, response) =>
        void response
          .writeHead(413, { "content-type": "application/problem+json" })
          .end('{"code":"payload_too_large"}');
      const socket = await openSocket(port, post("/api/refuse", formType, 8 * mebibyte), Buffer.alloc(8 * mebibyte));
      const received = await readUntil(socket, "payload_too_large");
      expect(received).toMatch(/^HTTP\/1\.1 413 /);
      socket.write("GET /healthz HTTP/1.1\r\nHost: localhost:3000\r\n\r\n");
      await readUntil(socket, '"status":"ok"');
    });

    it("is given up at the service when the person leaves", async () => {
      const port = await startGateway();
      handleRefuse = (incoming) => void incoming.resume();
      const socket = await openSocket(port, post("/api/refuse", formType, mebibyte), Buffer.alloc(100_000));
      await waitUntil(() => receivedRequests.length === 1);
      socket.destroy();
      await waitUntil(() => receivedRequests[0]?.destroyed === true);
      expect(receivedRequests[0]?.complete).toBe(false);
    });
  });

  describe("many bodies that do not arrive", () => {
    it.each(["application/json", formType, formType.toUpperCase()])(
      "leave connections for the others: %s",
      async (type) => {
        const port = await startGateway();
        await Promise.all(
          Array.from({ length: connectionCount }, () => openSocket(port, post("/api/slow", type, 200_000), "{")),
        );
        expect((await call(port, "/api/ok", { from: person })).status).toBe(200);
        expect((await call(port, "/api/ok", { from: person, type: "application/json", body: "{}" })).status).toBe(200);
      },
    );

    it("do not reach the service when they are small, and are told that their time is over", async () => {
      const port = await startGateway({ bodyMs: 200 });
      const socket = await openSocket(port, post("/api/slow", "application/json", 100), "{");
      const received = await readUntil(socket, "}");
      expect(received).toMatch(/^HTTP\/1\.1 408 /);
      expect(received).toContain('"code":"timed_out"');
      expect(receivedRequests).toHaveLength(0);
    });

    it("hold so many bytes of one address and no more", async () => {
      const port = await startGateway({ bodyBytesOfAddress: mebibyte });
      const stalled = await openSocket(port, post("/api/slow", "application/json", 600_000), "{");
      const refused = await waitForRefusal(port, {
        from: attacker,
        type: "application/json",
        body: Buffer.alloc(600_000, " "),
      });
      expect(refused.headers["retry-after"]).toMatch(/^[1-9]\d*$/);
      expect(
        (await call(port, "/api/ok", { from: person, type: "application/json", body: Buffer.alloc(600_000, " ") }))
          .status,
      ).toBe(200);
      stalled.destroy();
      await waitForStatus(port, 200, { from: attacker, type: "application/json", body: Buffer.alloc(600_000, " ") });
    });

    it("are read to their end when they are refused, so that a browser sees why", async () => {
      const port = await startGateway({ callsOfAddress: 1 });
      await openSocket(port, post("/api/slow", "application/json", 100), "{");
      const socket = await openSocket(port, post("/api/slow", formType, 8 * mebibyte), Buffer.alloc(8 * mebibyte));
      expect(await readUntil(socket, "}")).toMatch(/^HTTP\/1\.1 429 /);
      socket.write("GET /healthz HTTP/1.1\r\nHost: localhost:3000\r\n\r\n");
      await readUntil(socket, '"status":"ok"');
    });

    it("are refused when more is announced than the service takes", async () => {
      const port = await startGateway();
      for (const [type, length] of [
        ["application/json", 5 * mebibyte],
        [formType, 70 * mebibyte],
        [formType.toUpperCase(), 70 * mebibyte],
      ] as const) {
        const received = await readUntil(await openSocket(port, post("/api/slow", type, length), "{"), "}");
        expect(received).toMatch(/^HTTP\/1\.1 413 /);
        expect(received).toContain('"code":"payload_too_large"');
      }
      expect(receivedRequests).toHaveLength(0);
    });
  });

  describe("many who stop reading", () => {
    const get = (path: string, from: string): string =>
      `GET ${path} HTTP/1.1\nHost: localhost:3000\nX-Forwarded-For: ${from}`;

    it("leave connections for the others", async () => {
      const port = await startGateway();
      await Promise.all(Array.from({ length: connectionCount }, () => openSocket(port, get("/api/endless", attacker))));
      await waitUntil(() => downloads.length >= 128);
      expect((await call(port, "/api/ok", { from: person })).status).toBe(200);
    });

    it("are let go when they take nothing for too long, and a slow one is not", async () => {
      const port = await startGateway({ idleMs: 1_500, bodyMs: 200 });
      const stalledReader = (await openSocket(port, get("/api/large", attacker))).pause();
      const slow = await openSocket(port, get("/api/large", person));
      let bytes = 0;
      slow.on("data", (chunk: Buffer) => {
        const bytesBefore = bytes;
        bytes += chunk.length;
        if (Math.trunc(bytesBefore / mebibyte) === Math.trunc(bytes / mebibyte)) return;
        slow.pause();
        setTimeout(() => slow.resume(), 60);
      });
      await waitUntil(() => bytes > 32 * mebibyte);
      await waitUntil(() => downloads.every(({ destroyed }) => destroyed));
      expect(downloads).toHaveLength(2);
      expect(downloads.map(({ writableFinished }) => writableFinished).sort()).toEqual([false, true]);
      expect(stalledReader.destroyed).toBe(false); // it was the gateway that ended it
    });
  });

  describe("one address", () => {
    it("has so many calls under way and no more, and is told when to try again", async () => {
      const port = await startGateway({ callsOfAddress: 3 });
      const open = await Promise.all(
        [1, 2, 3].map(() => openSocket(port, post("/api/slow", "application/json", 100), "{")),
      );
      const { headers } = await waitForRefusal(port, { from: attacker });
      expect(headers["retry-after"]).toMatch(/^[1-9]\d*$/);
      expect((await call(port, "/healthz", { from: attacker })).status).toBe(429);
      expect((await call(port, "/api/ok", { from: person })).status).toBe(200);
      open[0]?.destroy();
      await waitForStatus(port, 200, { from: attacker });
    });

    it("is a whole /64 of IPv6, and the same whether IPv4 is mapped or not", async () => {
      const port = await startGateway({ callsOfAddress: 2 });
      for (const from of ["2001:db8::1", "2001:db8::2", "::ffff:203.0.113.1", attacker])
        await openSocket(port, post("/api/slow", "application/json", 100, from), "{");
      await waitForRefusal(port, { from: "2001:db8::ffff:0:0:3" });
      await waitForRefusal(port, { from: attacker });
      expect((await call(port, "/api/ok", { from: "2001:db8:0:1::1" })).status).toBe(200);
    });

    it("keeps its place while the service works for a call that it has left", async () => {
      const port = await startGateway({ callsOfAddress: 1 });
      const socket = await openSocket(port, post("/api/never", "application/json", 2), "{}");
      await waitUntil(() => receivedRequests.length === 1);
      socket.destroy();
      await waitForRefusal(port, { from: attacker });
      receivedRequests[0]?.destroy();
      await waitForStatus(port, 200, { from: attacker });
    });

    it("has so much done behind at a time, and the rest waits in its order; others do not wait for it", async () => {
      const port = await startGateway({ turnsOfAddress: 2 });
      const waiting = await Promise.all(
        [1, 2].map(() => openSocket(port, post("/api/never", "application/json", 2), "{}")),
      );
      await waitUntil(() => receivedRequests.length === 2);
      const queuedCall = call(port, "/api/ok", { from: attacker });
      expect((await call(port, "/api/ok", { from: person })).status).toBe(200);
      expect(receivedRequests.map(({ url }) => url)).toEqual(["/never", "/never", "/ok"]);
      waiting[0]?.destroy(); // the service works on, so it is still this call's turn
      expect((await call(port, "/api/ok", { from: person })).status).toBe(200);
      expect(receivedRequests).toHaveLength(4);
      receivedRequests[0]?.destroy();
      expect((await queuedCall).status).toBe(200);
    });

    it("has nothing done for those of its calls that were left while they waited", async () => {
      const port = await startGateway({ turnsOfAddress: 2 });
      const body = [post("/api/never", "application/json", 2), "{}"] as const;
      await Promise.all([1, 2].map(() => openSocket(port, ...body)));
      await waitUntil(() => receivedRequests.length === 2);
      const abandoned = await Promise.all(Array.from({ length: 20 }, () => openSocket(port, ...body)));
      await waitUntil(async () => (await countConnections(port)) === 22);
      for (const socket of abandoned) socket.destroy();
      await waitUntil(async () => (await countConnections(port)) === 2);
      const finalCall = call(port, "/api/ok", { from: attacker });
      receivedRequests[0]?.destroy();
      expect((await finalCall).status).toBe(200);
      expect(receivedRequests.map(({ url }) => url)).toEqual(["/never", "/never", "/ok"]);
    });

    it("has files of remotes though the service hangs", async () => {
      const port = await startGateway({ turnsOfAddress: 2 });
      await Promise.all([1, 2].map(() => openSocket(port, post("/api/never", "application/json", 2), "{}")));
      await waitUntil(() => receivedRequests.length === 2);
      expect((await call(port, "/r/secrets/1/main.js", { from: attacker })).status).toBe(200);
    });

    it.each([
      ["announced", false],
      ["in pieces", true],
    ])(
      "has half of its turns left beside a large body that is %s, and answers passed on beside it",
      async (_name, chunked) => {
        const port = await startGateway({ turnsOfAddress: 2 });
        const body = Buffer.alloc(chunked ? 100 : 2_000_000, " ");
        await openSocket(port, post("/api/endless", "application/json", 2), "{}");
        await waitUntil(() => downloads.length === 1); // its answer has begun
        const head = post("/api/never", "application/json", body.length);
        await (chunked
          ? openSocket(
              port,
              head.replace(/Content-Length.*/, "Transfer-Encoding: chunked"),
              "64\r\n",
              body,
              "\r\n0\r\n\r\n",
            )
          : openSocket(port, head, body));
        await waitUntil(() => receivedRequests.length === 2);
        expect((await call(port, "/api/ok", { from: attacker })).status).toBe(200);
        await openSocket(port, post("/api/never", "application/json", 2), "{}");
        await waitUntil(() => receivedRequests.length === 4);
        const queuedCall = call(port, "/api/ok", { from: attacker });
        expect((await call(port, "/api/ok", { from: person })).status).toBe(200);
        expect(receivedRequests).toHaveLength(5);
        receivedRequests[1]?.destroy();
        expect((await queuedCall).status).toBe(200);
      },
    );

    describe("downloads, while somebody else is there", () => {
      beforeEach(() => {
        jest.spyOn(performance, "now").mockReturnValue(performance.now()); // whoever called stays there
      });
      afterEach(() => {
        jest.restoreAllMocks();
      });
      const countStartedDownloads = (): number => receivedRequests.filter(({ url }) => url?.startsWith("/v2")).length;
      const runSixReaders = async (bytesPerSecondOfAddress: number): Promise<number> => {
        const port = await startGateway({ bytesPerSecondOfAddress });
        expect((await call(port, "/api/ok", { from: person })).status).toBe(200);
        await Promise.all(
          Array.from({ length: 6 }, () =>
            openSocket(port, post("/api/v2/secrets/get%2Dsecret", "application/json", 2), "{}"),
          ),
        );
        return port;
      };

      it("wait until those before are paid, and others are answered meanwhile", async () => {
        const port = await runSixReaders(8 * mebibyte); // a second and more for each
        await waitUntil(() => countStartedDownloads() > 0);
        expect((await call(port, "/api/ok", { from: person })).status).toBe(200);
        expect(countStartedDownloads()).toBeLessThan(6);
      });

      it("begin one after the other when those before are paid", async () => {
        await runSixReaders(80 * mebibyte);
        await waitUntil(() => countStartedDownloads() === 6);
      });
    });

    it("has so many connections and no more", async () => {
      const port = await startGateway({ connectionsOfAddress: 2 }, "");
      const silent = await Promise.all(
        [1, 2].map(async () => {
          const socket = connect(port, "127.0.0.1");
          sockets.push(socket);
          await once(socket, "connect");
          return socket;
        }),
      );
      const refused = await waitForRefusal(port, {});
      expect(refused.headers.connection).toBe("close");
      const further = await Promise.all([1, 2, 3].map(async () => (await openSocket(port, "GET")).resume()));
      // beyond twice as many, nobody is told anything
      await waitUntil(() => further.some(({ destroyed, readableEnded }) => destroyed || readableEnded));
      for (const socket of [...silent, ...further]) socket.destroy();
      await waitForStatus(port, 200, {});
    });

    it("does not fill the gateway alone, and all together are told", async () => {
      const port = await startGateway({ callsOfAll: 2 });
      for (const from of ["192.0.2.1", "192.0.2.2"])
        await openSocket(port, post("/api/slow", "application/json", 100, from), "{");
      await waitUntil(async () => (await call(port, "/api/ok", { from: person })).status === 503);
      const { headers, body } = await call(port, "/api/ok", { from: person });
      expect(headers["retry-after"]).toMatch(/^[1-9]\d*$/);
      expect(JSON.parse(body)).toMatchObject({ status: 503, code: "service_unavailable" });
    });
  });

  describe("headers that do not arrive", () => {
    it("end after their time, at the gateway and at a static server", async () => {
      const gateway = await startGateway({ headersMs: 200 });
      const remote = await buildRemoteServer({
        folder: join(folder, "releases"),
        limits: { ...defaultLimits, headersMs: 200 },
      });
      gateways.push(remote);
      await remote.listen({ host: "127.0.0.1", port: 0 });
      for (const port of [gateway, getPort(remote)]) {
        const socket = await openSocket(port, "");
        socket.write("GET / HTTP/1.1\r\nHost: loc");
        await readUntil(socket, "408");
      }
    });
  });

  describe("a static server", () => {
    it("lets go of who stops reading, and of a body that does not arrive", async () => {
      const remote = await buildRemoteServer({
        folder: join(folder, "releases"),
        limits: { ...defaultLimits, idleMs: 300 },
      });
      gateways.push(remote);
      await remote.listen({ host: "127.0.0.1", port: 0 });
      const reader = (await openSocket(getPort(remote), "GET /r/large.json HTTP/1.1\nHost: r")).pause();
      const sender = await openSocket(getPort(remote), post("/r/large.json", "application/json", 100), "{");
      const countConnections = () =>
        new Promise<number>((resolve) => remote.server.getConnections((_error, count) => resolve(count)));
      await waitUntil(async () => (await countConnections()) === 0);
      expect([reader, sender].map(({ destroyed }) => destroyed)[0]).toBe(false);
    });
  });

  async function waitForRefusal(port: number, options: CallOptions): Promise<TestResponse> {
    let response: TestResponse | undefined;
    await waitUntil(async () => (response = await call(port, "/api/ok", options)).status === 429);
    if (response === undefined) throw new Error("nothing was asked");
    expect(response.headers["content-type"]).toContain("application/problem+json");
    expect(JSON.parse(response.body)).toEqual({
      type: "about:blank",
      title: "Too Many Requests",
      status: 429,
      code: "too_many_requests",
    });
    return response;
  }
  const waitForStatus = (port: number, status: number, options: CallOptions) =>
    waitUntil(async () => (await call(port, "/api/ok", options)).status === status);
});

interface CallOptions {
  readonly from?: string;
  readonly type?: string;
  readonly body?: string | Buffer;
}

/** One call on a connection of its own. */
async function call(port: number, path: string, { from, type, body }: CallOptions): Promise<TestResponse> {
  const outgoing = request({
    host: "127.0.0.1",
    port,
    path,
    agent: false,
    method: body === undefined ? "GET" : "POST",
    headers: {
      ...(from !== undefined && { "x-forwarded-for": from }),
      ...(type !== undefined && { "content-type": type }),
      ...(body !== undefined && { "content-length": Buffer.byteLength(body) }),
    },
  });
  outgoing.end(body);
  const [response] = (await once(outgoing, "response")) as [IncomingMessage];
  return { status: response.statusCode ?? 0, headers: response.headers, body: await text(response) };
}

async function waitUntil(condition: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await condition())) await pause(10);
}

/** What a connection says until these words are in it. */
async function readUntil(socket: Socket, expected: string): Promise<string> {
  let received = "";
  socket.on("data", (chunk: Buffer) => (received += chunk.toString()));
  await waitUntil(() => {
    if (socket.readableEnded || socket.destroyed) expect(received).toContain(expected);
    return received.includes(expected);
  });
  return received;
}

function getListeningPort(server: Server): number {
  const address = server.address();
  if (address === null || typeof address === "string") throw new TypeError("not listening on a port");
  return address.port;
}
