import { answerTokenHeader } from "@relicario/shared/api";
import type { FastifyInstance } from "fastify";

/**
 * Headers of every answer, and CORS for the portal's origin alone (the service may live on another
 * one). Tokens travel in a header, not in cookies, so nothing here lets a foreign page act for
 * somebody.
 */
export function setResponseHeaders(app: FastifyInstance, publicOrigin: string): void {
  app.addHook("onRequest", async (request, reply) => {
    void reply.headers({
      "cache-control": "no-store",
      "x-content-type-options": "nosniff",
      "x-request-id": request.id,
      vary: "Origin",
    });
    if (request.headers.origin !== publicOrigin) return undefined;
    void reply.headers({
      "access-control-allow-origin": publicOrigin,
      "access-control-allow-credentials": "true",
      "access-control-expose-headers": "Accept-Ranges, Content-Range, ETag, Retry-After, X-Request-Id",
    });
    if (request.method !== "OPTIONS" || request.headers["access-control-request-method"] === undefined)
      return undefined;
    return reply
      .code(204)
      .headers({
        "access-control-allow-methods": "GET, POST, PUT, PATCH, DELETE",
        "access-control-allow-headers": `authorization, content-type, if-none-match, if-range, range, ${answerTokenHeader}`,
        "access-control-max-age": "600",
      })
      .send();
  });
}
