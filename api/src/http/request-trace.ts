import { AsyncLocalStorage } from "node:async_hooks";

import type { FastifyInstance } from "fastify";

const currentTraceparent = new AsyncLocalStorage<string>();

/** Lets what a call does elsewhere be found by the call's id ({@link getTraceHeaders}). */
export function rememberTraces(app: FastifyInstance): void {
  // After the body was read, whose events belong to the connection.
  app.addHook("preHandler", (request, _reply, done) => {
    currentTraceparent.run(String(request.headers["traceparent"]), done);
  });
}

/** The current call's header for calls of other processes; none outside a call. */
export function getTraceHeaders(): { readonly traceparent?: string } {
  const traceparent = currentTraceparent.getStore();
  return traceparent === undefined ? {} : { traceparent };
}
