import type { FastifyInstance } from "fastify";

import { Problem } from "./problem.ts";
import { getBodyTimeoutSeconds } from "./body-timeout.ts";

/** Seconds from the end of the body's timeout to the start of the response. */
const responseTimeoutSeconds = 30;

/**
 * Responds with 503 after the timeout. The handler may still complete, so the client repeats the
 * call as after a lost response. (Fastify's `handlerTimeout` ends with the last byte of the body.)
 */
export function enforceResponseTimeout(app: FastifyInstance): void {
  app.addHook("onRequest", (request, reply, done) => {
    const { "content-length": contentLength = "0", "transfer-encoding": transferEncoding } = request.headers;
    const seconds =
      (contentLength === "0" && transferEncoding === undefined ? 0 : getBodyTimeoutSeconds(request)) +
      responseTimeoutSeconds;
    const timer = setTimeout(() => {
      if (!reply.sent && !reply.raw.headersSent)
        void reply.send(new Problem("service_unavailable", { detail: "the call timed out" }));
    }, seconds * 1_000).unref();
    reply.raw.once("close", () => {
      clearTimeout(timer);
    });
    done();
  });
}
