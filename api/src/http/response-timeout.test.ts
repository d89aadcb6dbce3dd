import Fastify, { type FastifyInstance } from "fastify";

import { enforceResponseTimeout } from "./response-timeout.ts";
import { createLoggerOptions } from "./logging.ts";
import { handleErrors } from "./on-error.ts";

let app: FastifyInstance;
let logLines: string[];
/** Lets the handler that hangs go on. */
let finishHandler: () => void;
let handlerReached: Promise<void>;
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
  logLines = [];
  app = Fastify(createLoggerOptions("info", { write: (line) => logLines.push(line) }));
  handleErrors(app);
  enforceResponseTimeout(app);
  const handlerResult = new Promise<string>((resolve) => {
    finishHandler = () => resolve("late");
  });
  handlerReached = new Promise((resolve) => {
    app.addHook("preHandler", (_request, _reply, done) => {
      resolve();
      done();
    });
  });
  app.all("/hangs", { config: { access: "public" } }, () => handlerResult);
  app.post("/patient", { config: { access: "public", bodyTimeoutSeconds: 600 } }, () => handlerResult);
  await app.listen({ host: "127.0.0.1", port: 0 });
});
afterEach(async () => {
  jest.useRealTimers();
  await app.close();
});

const call = async (method: string, path: string, seconds: number): Promise<Response> => {
  const body = method === "GET" ? {} : { headers: { "content-type": "application/json" }, body: "{}" };
  const answer = fetch(`${app.listeningOrigin}${path}`, { method, ...body });
  await handlerReached;
  jest.advanceTimersByTime(seconds * 1_000);
  return answer;
};

describe("endLateCalls", () => {
  it("answers 503 when a call without a body takes half a minute", async () => {
    const response = await call("GET", "/hangs?planted=1", 31);
    expect([response.status, response.headers.has("retry-after")]).toEqual([503, true]);
    expect(await response.json()).toMatchObject({ code: "service_unavailable" });
  });

  it("gives a body its time before, and answers when that was read long ago", async () => {
    expect((await call("POST", "/hangs", 91)).status).toBe(503);
  });

  it("waits longer where the body may", async () => {
    const answer = call("POST", "/patient", 629);
    await handlerReached;
    finishHandler();
    expect((await answer).status).toBe(200);
  });

  it("says nothing of the address in the log when the handler comes to its end after all", async () => {
    const response = await call("GET", "/hangs?planted=1", 31);
    await response.text();
    finishHandler();
    await app.close();
    expect(logLines.filter((line) => line.includes("FastifyError"))).toHaveLength(1);
    expect(logLines.join("")).not.toContain("planted");
  });
});
