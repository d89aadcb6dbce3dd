/**
 * Attacks of one client on others, with real sockets. A trusted hop's `X-Forwarded-For` makes
 * several clients of one machine.
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

import { TrustedProxies } from "../http/address.ts";
import { buildGateway } from "./gateway.ts";
import { defaultLimits, type ServeLimits } from "./limits.ts";
import { buildRemoteServer } from "./remote-server.ts";
import { getPort } from "./serve.ts";

const origin = "http://localhost:3000";
const verificationKey = { kid: "k", kty: "OKP", crv: "Ed25519", x: "A".repeat(43) } as const;
const trustAnchors = {
  vendor_id: "relicario",
  portal_keys: [verificationKey],
  team_keys: { secrets: [verificationKey] },
};
const mebibyte = 1024 * 1024;
const largeBody = Buffer.alloc(32 * mebibyte, " ");
const [attacker, person] = ["203.0.113.1", "198.51.100.7"];
/** More than the 128 connections that a pool has by default. */
const connectionCount = 130;

interface TestResponse {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

describe("isolation of clients at the gateway", () => {
  let folder: string;
  let service: Server;
  const gateways: FastifyInstance[] = [];
  const sockets: Socket[] = [];
  const receivedRequests: IncomingMessage[] = [];
  const downloads: ServerResponse[] = [];
  let handleRefusedCall: (incoming: IncomingMessage, response: ServerResponse) => void;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "neighbours-"));
    mkdirSync(join(folder, "releases/r"), { recursive: true });
    mkdirSync(join(folder, "vault/static"), { recursive: true });
    for (const page of ["index.html", "vault/controller.html", "vault/element.html"])
      writeFileSync(join(folder, page), '<!doctype html><script type="application/json" id="portal-page"></script>');
    writeFileSync(join(folder, "releases/r/large.json"), largeBody);
    service = createServer((incoming, response) => {
      receivedRequests.push(incoming);
      if (incoming.url === "/refuse") {
        handleRefusedCall(incoming, response);
        return;
      }
      if (incoming.url === "/never") return;
      if (incoming.url === "/large" || incoming.url === "/endless" || incoming.url?.startsWith("/v2")) {
        const endless = incoming.url === "/endless";
        downloads.push(
          response.writeHead(200, {
            "content-type": "application/octet-stream",
            ...(!endless && { "content-length": largeBody.length }),
          }),
        );
        if (endless) response.write("a");
        else response.end(largeBody);
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
        vaultOrigin: "http://localhost:3004",
        hostFolder: folder,
        deploymentsFolder: folder,
        trustAnchors,
        identityOrigin: origin,
        apiBase: `${origin}/api`,
      },
      serviceAddress: `http://127.0.0.1:${String(getListeningPort(service))}`,
      remoteAddresses: new Map([["secrets", `http://127.0.0.1:${String(getListeningPort(service))}`]]),
      trustedProxies: TrustedProxies.parse(trustedProxies),
      limits: { ...defaultLimits, ...limits },
      logFailure: () => undefined,
    });
    gateways.push(gateway);
    await gateway.listen({ host: "127.0.0.1", port: 0 });
    return getPort(gateway);
  }

  /** Opens a connection that sends these bytes and then nothing more. */
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
  const countConnections = (port: number): Promise<number> =>
    new Promise((resolve, reject) => {
      const gateway = gateways.find((candidate) => getPort(candidate) === port);
      gateway?.server.getConnections((error, count) => {
        if (error === null) resolve(count);
        else reject(error);
      });
    });
  const formType = "multipart/form-data; boundary=b";

  describe("an upload part that the service refuses before reading it", () => {
    it.each([
      [formType, 300_000],
      [formType, 60_000],
      ["application/json", 300_000],
    ])("blocks no connection for others: %s, %d bytes", async (type, bytes) => {
      const port = await startGateway();
      handleRefusedCall = (incoming, response) => {
        // Never reads the rest, and answers when the gateway has sent everything.
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

    it("is answered while its body is still sent, and its connection stays open", async () => {
      const port = await startGateway();
      handleRefusedCall = (_call, response) =>
        void response
          .writeHead(413, { "content-type": "application/problem+json" })
          .end('{"code":"payload_too_large"}');
      const socket = await openSocket(port, post("/api/refuse", formType, 8 * mebibyte), Buffer.alloc(8 * mebibyte));
      const received = await readUntil(socket, "payload_too_large");
      expect(received).toMatch(/^HTTP\/1\.1 413 /);
      socket.write("GET /healthz HTTP/1.1\r\nHost: localhost:3000\r\n\r\n");
      await readUntil(socket, '"status":"ok"');
    });

    it("is aborted at the service when the client leaves", async () => {
      const port = await startGateway();
      handleRefusedCall = (incoming) => void incoming.resume();
      const socket = await openSocket(port, post("/api/refuse", formType, mebibyte), Buffer.alloc(100_000));
      await waitUntil(() => receivedRequests.length === 1);
      socket.destroy();
      await waitUntil(() => receivedRequests[0]?.destroyed === true);
      expect(receivedRequests[0]?.complete).toBe(false);
    });
  });

  describe("many stalled bodies", () => {
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

    it("do not reach the service when they are small, and are answered 408", async () => {
      const port = await startGateway({ bodyMs: 200 });
      const socket = await openSocket(port, post("/api/slow", "application/json", 100), "{");
      const received = await readUntil(socket, "}");
      expect(received).toMatch(/^HTTP\/1\.1 408 /);
      expect(received).toContain('"code":"timed_out"');
      expect(receivedRequests).toHaveLength(0);
    });

    it("are limited in bytes per IP address", async () => {
      const port = await startGateway({ bodyBytesOfAddress: mebibyte });
      const stalledSocket = await openSocket(port, post("/api/slow", "application/json", 600_000), "{");
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
      stalledSocket.destroy();
      await waitForStatus(port, 200, { from: attacker, type: "application/json", body: Buffer.alloc(600_000, " ") });
    });

    it("are read to their end when refused, so that a browser reads the response", async () => {
      const port = await startGateway({ callsOfAddress: 1 });
      await openSocket(port, post("/api/slow", "application/json", 100), "{");
      const socket = await openSocket(port, post("/api/slow", formType, 8 * mebibyte), Buffer.alloc(8 * mebibyte));
      expect(await readUntil(socket, "}")).toMatch(/^HTTP\/1\.1 429 /);
      socket.write("GET /healthz HTTP/1.1\r\nHost: localhost:3000\r\n\r\n");
      await readUntil(socket, '"status":"ok"');
    });

    it("are refused when they declare more bytes than the service accepts", async () => {
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

  describe("many stalled readers", () => {
    const get = (path: string, from: string): string =>
      `GET ${path} HTTP/1.1\nHost: localhost:3000\nX-Forwarded-For: ${from}`;

    it("leave connections for the others", async () => {
      const port = await startGateway();
      await Promise.all(Array.from({ length: connectionCount }, () => openSocket(port, get("/api/endless", attacker))));
      await waitUntil(() => downloads.length >= 128);
      expect((await call(port, "/api/ok", { from: person })).status).toBe(200);
    });

    it("are disconnected after the idle time, unlike slow readers", async () => {
      const port = await startGateway({ idleMs: 10_000, bodyMs: 200 });
      const stalledReader = (await openSocket(port, get("/api/large", attacker))).pause();
      const slowReader = await openSocket(port, get("/api/large", person));
      let bytes = 0;
      slowReader.on("data", (chunk: Buffer) => {
        const bytesBefore = bytes;
        bytes += chunk.length;
        if (Math.trunc(bytesBefore / mebibyte) === Math.trunc(bytes / mebibyte)) return;
        slowReader.pause();
        setTimeout(() => slowReader.resume(), 60);
      });
      await waitUntil(() => bytes > 32 * mebibyte);
      await waitUntil(() => downloads.every(({ destroyed }) => destroyed));
      expect(downloads).toHaveLength(2);
      expect(downloads.map(({ writableFinished }) => writableFinished).sort()).toEqual([false, true]);
      expect(stalledReader.destroyed).toBe(false); // the gateway closed it
    });
  });

  describe("one IP address", () => {
    it("is limited in calls under way, and told when to try again", async () => {
      const port = await startGateway({ callsOfAddress: 3 });
      const openSockets = await Promise.all(
        [1, 2, 3].map(() => openSocket(port, post("/api/slow", "application/json", 100), "{")),
      );
      const { headers } = await waitForRefusal(port, { from: attacker });
      expect(headers["retry-after"]).toMatch(/^[1-9]\d*$/);
      expect((await call(port, "/healthz", { from: attacker })).status).toBe(429);
      expect((await call(port, "/api/ok", { from: person })).status).toBe(200);
      openSockets[0]?.destroy();
      await waitForStatus(port, 200, { from: attacker });
    });

    it("is a /64 of IPv6, or one of IPv4, mapped or not", async () => {
      const port = await startGateway({ callsOfAddress: 2 });
      for (const from of ["2001:db8::1", "2001:db8::2", "::ffff:203.0.113.1", attacker])
        await openSocket(port, post("/api/slow", "application/json", 100, from), "{");
      await waitForRefusal(port, { from: "2001:db8::ffff:0:0:3" });
      await waitForRefusal(port, { from: attacker });
      expect((await call(port, "/api/ok", { from: "2001:db8:0:1::1" })).status).toBe(200);
    });

    it("is charged while the service works on a call whose client has left", async () => {
      const port = await startGateway({ callsOfAddress: 1 });
      const socket = await openSocket(port, post("/api/never", "application/json", 2), "{}");
      await waitUntil(() => receivedRequests.length === 1);
      socket.destroy();
      await waitForRefusal(port, { from: attacker });
      receivedRequests[0]?.destroy();
      await waitForStatus(port, 200, { from: attacker });
    });

    it("is limited in concurrent work of the service; its other calls queue in order, and no one else waits", async () => {
      const port = await startGateway({ turnsOfAddress: 2 });
      const busySockets = await Promise.all(
        [1, 2].map(() => openSocket(port, post("/api/never", "application/json", 2), "{}")),
      );
      await waitUntil(() => receivedRequests.length === 2);
      const queuedCall = call(port, "/api/ok", { from: attacker });
      expect((await call(port, "/api/ok", { from: person })).status).toBe(200);
      expect(receivedRequests.map(({ url }) => url)).toEqual(["/never", "/never", "/ok"]);
      busySockets[0]?.destroy(); // the service still works on it
      expect((await call(port, "/api/ok", { from: person })).status).toBe(200);
      expect(receivedRequests).toHaveLength(4);
      receivedRequests[0]?.destroy();
      expect((await queuedCall).status).toBe(200);
    });

    it("causes no work by calls whose client leaves the queue", async () => {
      const port = await startGateway({ turnsOfAddress: 2 });
      const body = [post("/api/never", "application/json", 2), "{}"] as const;
      await Promise.all([1, 2].map(() => openSocket(port, ...body)));
      await waitUntil(() => receivedRequests.length === 2);
      const abandonedSockets = await Promise.all(Array.from({ length: 20 }, () => openSocket(port, ...body)));
      await waitUntil(async () => (await countConnections(port)) === 22);
      for (const socket of abandonedSockets) socket.destroy();
      await waitUntil(async () => (await countConnections(port)) === 2);
      const finalCall = call(port, "/api/ok", { from: attacker });
      receivedRequests[0]?.destroy();
      expect((await finalCall).status).toBe(200);
      expect(receivedRequests.map(({ url }) => url)).toEqual(["/never", "/never", "/ok"]);
    });

    it("gets files of remotes while the service hangs", async () => {
      const port = await startGateway({ turnsOfAddress: 2 });
      await Promise.all([1, 2].map(() => openSocket(port, post("/api/never", "application/json", 2), "{}")));
      await waitUntil(() => receivedRequests.length === 2);
      expect((await call(port, "/r/secrets/1/main.js", { from: attacker })).status).toBe(200);
    });

    it.each([
      ["declared", false],
      ["chunked", true],
    ])(
      "keeps half of its limit next to a large body that is %s, and gets other responses meanwhile",
      async (_name, chunked) => {
        const port = await startGateway({ turnsOfAddress: 2 });
        const body = Buffer.alloc(chunked ? 100 : 2_000_000, " ");
        await openSocket(port, post("/api/endless", "application/json", 2), "{}");
        await waitUntil(() => downloads.length === 1); // its response has started
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

    describe("downloads, while another IP address is active", () => {
      beforeEach(() => {
        jest.spyOn(performance, "now").mockReturnValue(performance.now()); // callers stay active
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

      it("wait until earlier downloads are paid, while the other address is answered", async () => {
        const port = await runSixReaders(8 * mebibyte); // each takes more than a second
        await waitUntil(() => countStartedDownloads() > 0);
        expect((await call(port, "/api/ok", { from: person })).status).toBe(200);
        expect(countStartedDownloads()).toBeLessThan(6);
      });

      it("start one after another when earlier downloads are paid", async () => {
        await runSixReaders(80 * mebibyte);
        await waitUntil(() => countStartedDownloads() === 6);
      });
    });

    it("is limited in connections", async () => {
      const port = await startGateway({ connectionsOfAddress: 2 }, "");
      const silentSockets = await Promise.all(
        [1, 2].map(async () => {
          const socket = connect(port, "127.0.0.1");
          sockets.push(socket);
          await once(socket, "connect");
          return socket;
        }),
      );
      const refused = await waitForRefusal(port, {});
      expect(refused.headers.connection).toBe("close");
      const furtherSockets = await Promise.all([1, 2, 3].map(async () => (await openSocket(port, "GET")).resume()));
      // connections beyond twice the limit are closed without a response
      await waitUntil(() => furtherSockets.some(({ destroyed, readableEnded }) => destroyed || readableEnded));
      for (const socket of [...silentSockets, ...furtherSockets]) socket.destroy();
      await waitUntil(async () => (await countConnections(port)) === 0);
      await waitForStatus(port, 200, {});
    });

    it("cannot fill the gateway by itself; at the limit of all addresses everyone gets 503", async () => {
      const port = await startGateway({ callsOfAll: 2 });
      for (const from of ["192.0.2.1", "192.0.2.2"])
        await openSocket(port, post("/api/slow", "application/json", 100, from), "{");
      await waitUntil(async () => (await call(port, "/api/ok", { from: person })).status === 503);
      const { headers, body } = await call(port, "/api/ok", { from: person });
      expect(headers["retry-after"]).toMatch(/^[1-9]\d*$/);
      expect(JSON.parse(body)).toMatchObject({ status: 503, code: "service_unavailable" });
    });
  });

  describe("stalled headers", () => {
    it("time out, at the gateway and at a static server", async () => {
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
    it("disconnects stalled readers and stalled bodies", async () => {
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
