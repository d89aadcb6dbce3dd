import { maxPartBytes } from "@relicario/shared/api";
import type { FastifyInstance } from "fastify";

/**
 * A part of the largest size with the form around it: no call that is meant brings more. In bytes.
 */
export const maxUnreadBytes = maxPartBytes + 64 * 1024;

/**
 * What was answered before its body was read (no session, too many calls, a part that is wrong, a
 * full disk) leaves bytes on a connection that is kept for the next call. They are read and
 * dropped, so that the caller gets to the answer; beyond {@link maxUnreadBytes} the connection is
 * closed. The time for it is the route's own (body-timeout.ts).
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
    // Fastify closes after a body that it did not take; who still sends it would then lose the
    // answer.
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
