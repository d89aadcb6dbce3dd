import { answerTokenHeader } from "@relicario/shared/api";
import type { FastifyInstance, FastifyRequest } from "fastify";

/**
 * Sets the headers of every response. CORS allows only the portal's origin, which may differ from
 * the service's. Tokens are sent in a header, not in cookies, so that a foreign page cannot act for
 * a user.
 */
export function setResponseHeaders(app: FastifyInstance, publicOrigin: string): void {
  app.addHook("onRequest", async (request, reply) => {
    void reply.headers(buildCommonHeaders(request));
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

export const buildCommonHeaders = ({ id }: FastifyRequest) => ({
  "cache-control": "no-store",
  "x-content-type-options": "nosniff",
  "x-request-id": id,
  vary: "Origin",
});
