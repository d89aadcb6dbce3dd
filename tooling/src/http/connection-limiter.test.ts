import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { setImmediate as yieldToEventLoop } from "node:timers/promises";
import { promisify } from "node:util";

import fastify, { type FastifyInstance } from "fastify";

import { getPort } from "../serve/serve.ts";
import { TrustedProxies } from "./address.ts";
import { CallLimiter } from "./call-limiter.ts";
import { ConnectionLimiter } from "./connection-limiter.ts";
import { ConnectionLimits } from "./limits.ts";
import { sendStatus } from "./problem.ts";

let app: FastifyInstance;
let port: number;
let startedCalls: string[];
/** Ends the calls to `/held`. */
let release: () => void;
const sockets: Socket[] = [];

beforeEach(async () => {
  const limits = ConnectionLimits.parse({ connectionsOfAddress: 8, turnsOfAddress: 2, refusedTurnMs: 3_600_000 });
  const connections = new ConnectionLimiter({
    limits,
    isTrusted: TrustedProxies.parse("192.0.2.1"),
    requestMs: limits.bodyMs,
    sendError: (_request, reply, status) => sendStatus(reply, status),
  });
  const limiter = new CallLimiter({ limits, connections, getBufferedBytes: () => 0 });
  app = fastify({ ...connections.serverOptions, routerOptions: { maxParamLength: 20 } });
  limiter.limitRequests(app);
  startedCalls = [];
  const held = new Promise<void>((resolve) => (release = resolve));
  app.get("/free/:name", async () => "free");
  await app.register(async (scope) => {
    limiter.queueCalls(scope);
    scope.get<{ Params: { name: string } }>("/held/:name", async ({ params }) => {
      startedCalls.push(params.name);
      await held;
      return params.name;
    });
    scope.get("/refused", async (_request, reply) => sendStatus(reply, 404));
  });
  await app.listen({ host: "127.0.0.1", port: 0 });
  port = getPort(app);
});
afterEach(async () => {
  release();
  for (const socket of sockets.splice(0)) socket.destroy();
  await app.close();
});

const get = (path: string): string => `GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`;

async function openSocket(text: string): Promise<Socket> {
  const socket = connect(port, "127.0.0.1").on("error", () => undefined);
  sockets.push(socket);
  await once(socket, "connect");
  socket.write(text);
  return socket;
}

/** Reads what the server sends, up to `count` responses or the end. */
async function readResponses(socket: Socket, count: number): Promise<string> {
  let received = "";
  for await (const chunk of socket.iterator({ destroyOnReturn: false })) {
    received += (chunk as Buffer).toString("latin1");
    const responses = received.split("HTTP/1.1 ").slice(1);
    if (responses.length >= count && responses.every((response) => /\r\n\r\n[^]+$/.test(response))) break;
  }
  return received;
}

/** Closes all sockets, and waits until the server has noticed. */
async function closeAll(): Promise<void> {
  for (const socket of sockets.splice(0)) socket.destroy();
  const countConnections = promisify(app.server.getConnections.bind(app.server));
  while ((await countConnections()) > 0) await yieldToEventLoop();
}

const readResponse = async (text: string): Promise<string> => readResponses(await openSocket(text), 1);

describe("ConnectionLimiter", () => {
  it("answers a few pipelined requests one after another, in order", async () => {
    const socket = await openSocket(["a", "b", "c"].map((name) => get(`/held/${name}`)).join(""));
    await readResponse(get("/free/x")); // once this later request is answered, the server has all three
    expect(startedCalls).toEqual(["a"]);
    release();
    expect((await readResponses(socket, 3)).match(/(?<=\r\n\r\n)[abc]/g)).toEqual(["a", "b", "c"]);
  });

  it("closes a connection with too many queued requests, and starts none of the queued requests", async () => {
    const socket = await openSocket(Array.from({ length: 800 }, (_, index) => get(`/held/${String(index)}`)).join(""));
    await once(socket.resume(), "close");
    expect(startedCalls).toEqual(["0"]);
    release();
    expect(await readResponse(get("/held/other"))).toMatch(/\r\n\r\nother$/);
    expect(startedCalls).toEqual(["0", "other"]);
  });

  it("drops queued calls of a closed connection, and releases the semaphore permit of its running call", async () => {
    for (let round = 0; round < 3; round++) {
      await openSocket(["a", "b", "c"].map((name) => get(`/held/${name}`)).join(""));
      await readResponse(get("/free/x"));
      await closeAll();
    }
    release();
    expect(await readResponse(get("/held/other"))).toMatch(/\r\n\r\nother$/);
    expect(startedCalls).toEqual(["a", "a", "a", "other"]);
  });

  it("answers 429 beyond the limit of connections per IP address, and closes those beyond twice the limit", async () => {
    for (let count = 0; count < 8; count++) await openSocket("");
    expect(await readResponse(get("/free/x"))).toMatch(/^HTTP\/1\.1 429 [^]*retry-after: 5[^]*"too_many_requests"/i);
    for (let count = 0; count < 8; count++) await openSocket("");
    const refusedSocket = connect(port, "127.0.0.1").on("error", () => undefined);
    await once(refusedSocket.resume(), "close");
    expect(refusedSocket.bytesRead).toBe(0);
  });

  it.each([
    ["a second Host", 400, "GET /free/x HTTP/1.1\r\nHost: localhost\r\nHost: planted.example\r\n\r\n"],
    ["no Host", 400, "GET /free/x HTTP/1.1\r\nX-Planted: planted\r\n\r\n"],
    ["a malformed URL", 400, get("/free/%E0planted")],
    ["a URL that is too long", 414, get(`/free/${"planted".repeat(10)}`)],
    ["long headers", 431, get(`/free/x?${"planted".repeat(10_000)}`)],
    ["anything but HTTP", 400, "planted\r\n\r\n"],
  ])("answers %s with a problem document that repeats nothing of the request", async (_name, status, text) => {
    const response = await readResponse(text);
    expect(response).toMatch(new RegExp(`^HTTP/1\\.1 ${String(status)} `));
    expect(response).toMatch(/content-type: application\/problem\+json/i);
    expect(JSON.parse(response.slice(response.indexOf("\r\n\r\n")))).toMatchObject({ status, code: "bad_request" });
    expect(response).not.toContain("planted");
  });
});

describe("CallLimiter", () => {
  it("keeps the turns of refused calls, for which their own address waits, and no one else", async () => {
    for (let turn = 0; turn < 2; turn++) expect(await readResponse(get("/refused"))).toMatch(/^HTTP\/1\.1 404 /);
    await openSocket(get("/held/own"));
    await readResponse(get("/free/x")); // a later call: the one before has arrived
    const other = app.inject({ url: "/held/other", remoteAddress: "198.51.100.7" });
    release();
    expect((await other).body).toBe("other");
    expect(startedCalls).toEqual(["other"]);
  });
});
