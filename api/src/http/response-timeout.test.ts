import Fastify, { type FastifyInstance } from "fastify";
import { createLoggerOptions } from "@relicario/tooling/http";

import { enforceResponseTimeout } from "./response-timeout.ts";
import { handleErrors } from "./on-error.ts";

let app: FastifyInstance;
let logLines: string[];
/** Lets the hanging handler complete. */
let finishHandler: () => void;
let handlerReached: Promise<void>;
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

describe("enforceResponseTimeout", () => {
  it("answers 503 after half a minute when the call has no body", async () => {
    const response = await call("GET", "/hangs?planted=1", 31);
    expect([response.status, response.headers.has("retry-after")]).toEqual([503, true]);
    expect(await response.json()).toMatchObject({ code: "service_unavailable" });
  });

  it("starts after the body's timeout, even if the body was read long ago", async () => {
    expect((await call("POST", "/hangs", 91)).status).toBe(503);
  });

  it("answers later where the body's timeout is longer", async () => {
    const answer = call("POST", "/patient", 629);
    await handlerReached;
    finishHandler();
    expect((await answer).status).toBe(200);
  });

  it("logs no address when the handler completes later", async () => {
    const response = await call("GET", "/hangs?planted=1", 31);
    await response.text();
    finishHandler();
    await app.close();
    expect(logLines.filter((line) => line.includes("FastifyError"))).toHaveLength(1);
    expect(logLines.join("")).not.toContain("planted");
  });
});
