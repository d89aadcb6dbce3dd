import { maxPartBytes } from "@relicario/shared/api";
import type { FastifyInstance } from "fastify";

/** Bytes of the largest part with its form: no valid call sends more. */
export const maxUnreadBytes = maxPartBytes + 64 * 1024;

/**
 * Reads and discards bodies of requests that were answered early (no session, too many calls,
 * invalid part, full disk), so that the client receives the response and the connection can be
 * reused. Beyond {@link maxUnreadBytes} the connection is closed. The route's body timeout applies
 * (body-timeout.ts).
 */
export function drainUnreadBodies(app: FastifyInstance): void {
  app.addHook("onSend", (request, reply, payload, done) => {
    const { raw } = request;
    if (raw.complete) {
      done(null, payload);
      return;
    }
    if (Number(raw.headers["content-length"] ?? 0) > maxUnreadBytes) {
      void reply.header("connection", "close");
      done(null, payload);
      return;
    }
    // Fastify would close the connection, and a client that is still sending would lose the
    // response.
    void reply.removeHeader("connection");
    let drainedBytes = 0;
    raw.unpipe();
    raw.on("data", (chunk: Buffer) => {
      drainedBytes += chunk.length;
      if (drainedBytes > maxUnreadBytes) raw.destroy();
    });
    raw.resume();
    done(null, payload);
  });
}
