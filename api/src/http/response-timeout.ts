import type { FastifyInstance } from "fastify";

import { Problem } from "./problem.ts";
import { getBodyTimeoutSeconds } from "./body-timeout.ts";

/**
 * From the time that the body may take, whether it took it or not, to the beginning of the answer.
 */
const responseTimeoutSeconds = 30;

/**
 * Whoever waits for an answer gets one: 503 when its time is over. The handler may still come to
 * its end, so the caller asks again as after a lost answer. (Fastify's own `handlerTimeout` ends
 * with a body's last byte.)
 */
export function enforceResponseTimeout(app: FastifyInstance): void {
  app.addHook("onRequest", (request, reply, done) => {
    const { "content-length": contentLength = "0", "transfer-encoding": transferEncoding } = request.headers;
    const seconds =
      (contentLength === "0" && transferEncoding === undefined ? 0 : getBodyTimeoutSeconds(request)) +
      responseTimeoutSeconds;
    const timer = setTimeout(() => {
      if (!reply.sent && !reply.raw.headersSent)
        void reply.send(new Problem("service_unavailable", { detail: "it took too long" }));
    }, seconds * 1_000).unref();
    reply.raw.once("close", () => {
      clearTimeout(timer);
    });
    done();
  });
}
