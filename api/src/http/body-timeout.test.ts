import { once } from "node:events";
import { connect } from "node:net";

import Fastify, { type FastifyInstance } from "fastify";

import { enforceBodyTimeout } from "./body-timeout.ts";

let app: FastifyInstance;
let requestReached: Promise<void>;
beforeEach(async () => {
  // Fakes only the service's timers; sockets and promises are real.
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
 * Sends half of a body, advances the timers by `seconds`, then sends the rest. @returns the
 * response, empty when the connection was closed
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

describe("enforceBodyTimeout", () => {
  it("closes a connection whose body takes more than a minute", async () => {
    expect(await sendSlowly("/usual", 61)).toBe("");
  });

  it("waits for a minute", async () => {
    expect(await sendSlowly("/usual", 59)).toContain("whole");
  });

  it("waits longer on routes with a longer timeout", async () => {
    expect(await sendSlowly("/patient", 599)).toContain("whole");
  });

  it("closes the connection on routes with a longer timeout after that timeout", async () => {
    expect(await sendSlowly("/patient", 601)).toBe("");
  });
});
