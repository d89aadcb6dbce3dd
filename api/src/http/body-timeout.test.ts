import { once } from "node:events";
import { connect } from "node:net";

import Fastify, { type FastifyInstance } from "fastify";

import { enforceBodyTimeout } from "./body-timeout.ts";

let app: FastifyInstance;
let requestReached: Promise<void>;
beforeEach(async () => {
  // Only our own timers stand still; sockets and promises go on.
  jest.useFakeTimers({
    doNotFake: [
      "Date",
      "hrtime",
      "nextTick",
      "performance",
      "queueMicrotask",
      "setImmediate",
      "clearImmediate",
      "setInterval",
      "clearInterval",
    ],
  });
  app = Fastify();
  enforceBodyTimeout(app);
  requestReached = new Promise((resolve) => {
    app.addHook("onRequest", (_request, _reply, done) => {
      resolve();
      done();
    });
  });
  app.post("/usual", { config: { access: "public" } }, () => "whole");
  app.post("/patient", { config: { access: "public", bodyTimeoutSeconds: 600 } }, () => "whole");
  await app.listen({ host: "127.0.0.1", port: 0 });
});
afterEach(async () => {
  jest.useRealTimers();
  await app.close();
});

/**
 * Sends half of a body, lets `seconds` pass, then sends the rest. @returns what came back, nothing
 * when it was closed.
 */
const sendSlowly = async (path: string, seconds: number): Promise<string> => {
  const { port } = new URL(app.listeningOrigin);
  const socket = connect(Number(port), "127.0.0.1");
  let receivedText = "";
  socket.on("data", (chunk) => {
    receivedText += chunk.toString();
    if (receivedText.includes("whole")) socket.end();
  });
  socket.on("error", () => undefined); // it may be closed while the rest is written
  const connectionClosed = once(socket, "close");
  socket.write(`POST ${path} HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: 4\r\n\r\n"a`);
  await requestReached;
  jest.advanceTimersByTime(seconds * 1_000);
  socket.write('b"');
  await connectionClosed;
  return receivedText;
};

describe("endSlowRequests", () => {
  it("closes a connection whose body is not there after a minute", async () => {
    expect(await sendSlowly("/usual", 61)).toBe("");
  });

  it("waits for a minute", async () => {
    expect(await sendSlowly("/usual", 59)).toContain("whole");
  });

  it("waits longer where a route asks for it", async () => {
    expect(await sendSlowly("/patient", 599)).toContain("whole");
  });

  it("closes it there as well in the end", async () => {
    expect(await sendSlowly("/patient", 601)).toBe("");
  });
});
