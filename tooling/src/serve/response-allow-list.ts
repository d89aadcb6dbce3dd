import { Readable } from "node:stream";

import type { ErrorCode } from "@relicario/shared/errors";
import type { FastifyInstance, FastifyRequest } from "fastify";

import { upstreamResponsePolicy } from "./headers.ts";
import { sendProblem } from "../http/problem.ts";

/**
 * What the gateway allows in the responses of an upstream. They have the portal's origin, where a
 * page, a script or a header such as `Clear-Site-Data` would have the portal's rights.
 */
export interface ResponseRules {
  /**
   * Values of `Sec-Fetch-Dest` (Fetch Metadata) that may request the responses. Requests without it
   * come from tools and old browsers, and are allowed.
   */
  readonly destinations: readonly string[];
  readonly mediaTypes: readonly string[];
  /**
   * The allowed scheme of `WWW-Authenticate`. For others, above all `Basic`, browsers prompt in the
   * portal's name.
   */
  readonly challenge: string | null;
}

const jsonTypes = ["application/json", "application/problem+json"];

/**
 * `fetch` calls the service, and browsers report violations of the page's policy to it. Text is for
 * the operator: metrics.
 */
export const serviceResponseRules: ResponseRules = {
  destinations: ["empty", "report"],
  mediaTypes: [...jsonTypes, "application/octet-stream", "text/plain"],
  challenge: "Bearer",
};

/** What a release can hold. Workers are fetched, and started from a blob URL. */
export const releaseResponseRules: ResponseRules = {
  destinations: ["empty", "script", "style", "font", "image"],
  mediaTypes: [
    ...jsonTypes,
    ...["text/javascript", "application/javascript", "text/css", "text/plain", "application/wasm", "font/woff2"],
    ...["image/svg+xml", "image/png", "image/jpeg", "image/webp", "image/avif"],
  ],
  challenge: null,
};

const forwardedHeaders = new Set([
  ...[
    "content-type",
    "content-length",
    "content-encoding",
    "content-range",
    "accept-ranges",
    "transfer-encoding",
    "connection",
    "date",
    "vary",
  ],
  ...["cache-control", "etag", "last-modified", "retry-after", "www-authenticate", "x-request-id"],
]);

/** `getDefaultHeaders`: those of every response to such a request. */
export function filterResponses(
  scope: FastifyInstance,
  {
    rules,
    getDefaultHeaders,
    code,
    onRejected,
  }: {
    rules: ResponseRules;
    getDefaultHeaders: (request: FastifyRequest) => Readonly<Record<string, string>>;
    code: ErrorCode;
    onRejected: (reason: string, request: FastifyRequest) => void;
  },
): void {
  scope.addHook("onRequest", async (request, reply) => {
    const destination = request.headers["sec-fetch-dest"];
    if (destination !== undefined && !rules.destinations.includes(destination))
      await sendProblem(reply, 403, "forbidden", "Forbidden");
  });

  scope.addHook("onSend", async (request, reply, payload) => {
    const reason = getRejectionReason(
      rules,
      reply.statusCode,
      reply.getHeader("content-type"),
      reply.getHeader("content-length"),
    );
    const body = reason === null ? payload : replaceWithProblem();
    for (const [name, value] of Object.entries(reply.getHeaders()))
      if (!forwardedHeaders.has(name) || (name === "www-authenticate" && !isChallenge(rules, value)))
        reply.removeHeader(name);
    void reply.headers({ ...getDefaultHeaders(request), "content-security-policy": upstreamResponsePolicy });
    return body;

    function replaceWithProblem(): string {
      onRejected(reason ?? "", request);
      // its error reports this intended end
      if (payload instanceof Readable) payload.once("error", () => undefined).destroy();
      for (const name of Object.keys(reply.getHeaders())) reply.removeHeader(name);
      void reply.code(502).headers({
        "content-type": "application/problem+json",
        "cache-control": "no-store",
        "x-request-id": request.id,
      });
      return JSON.stringify({ type: "about:blank", title: "Bad Gateway", status: 502, code });
    }
  });
}

function isChallenge({ challenge }: ResponseRules, value: unknown): boolean {
  return (
    challenge !== null && typeof value === "string" && value.split(/[\s,]/)[0] === challenge && !value.includes(",")
  );
}

function getRejectionReason(
  { mediaTypes }: ResponseRules,
  status: number,
  type: unknown,
  length: unknown,
): string | null {
  if (status === 204 || status === 304) return null;
  if (status >= 300 && status < 400) return "REDIRECT";
  if (type === undefined && length === "0") return null;
  const mediaType = typeof type === "string" ? type.split(";")[0]?.trim().toLowerCase() : undefined;
  return mediaType !== undefined && mediaTypes.includes(mediaType) ? null : "MEDIA_TYPE";
}
