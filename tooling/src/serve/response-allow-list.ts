import { Readable } from "node:stream";

import type { ErrorCode } from "@relicario/shared/errors";
import type { FastifyInstance } from "fastify";

import { upstreamResponsePolicy } from "./headers.ts";
import { sendProblem } from "./problem.ts";

/**
 * What the gateway lets through of the answers of a server behind it. They come from the portal's
 * own origin, where a page, a script or a header such as `Clear-Site-Data` of theirs would have the
 * rights of the portal itself.
 */
export interface ResponseRules {
  /**
   * Values of `Sec-Fetch-Dest` (Fetch Metadata) that may ask. Whoever sends none is no browser
   * page.
   */
  readonly destinations: readonly string[];
  readonly mediaTypes: readonly string[];
  /**
   * What a `WWW-Authenticate` may begin with. Of any other scheme, `Basic` above all, browsers ask
   * the person in the portal's name.
   */
  readonly challenge: string | null;
}

const jsonTypes = ["application/json", "application/problem+json"];

/**
 * The service is called by `fetch`, and by browsers that report violations of the page's policy.
 */
export const serviceResponseRules: ResponseRules = {
  destinations: ["empty", "report"],
  mediaTypes: [...jsonTypes, "application/octet-stream"],
  challenge: "Bearer",
};

/** What a release can hold. Workers are fetched, and started from a blob address. */
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

/**
 * Adds the rules to a scope in which a proxy is registered. `defaultHeaders`: headers that the
 * gateway gives to every answer.
 */
export function filterResponses(
  scope: FastifyInstance,
  {
    rules,
    defaultHeaders,
    code,
    onRejected,
  }: {
    rules: ResponseRules;
    defaultHeaders: Readonly<Record<string, string>>;
    code: ErrorCode;
    onRejected: (reason: string) => void;
  },
): void {
  scope.addHook("onRequest", async (request, reply) => {
    const destination = request.headers["sec-fetch-dest"];
    if (destination !== undefined && !rules.destinations.includes(destination))
      await sendProblem(reply, 403, "forbidden", "Forbidden");
  });

  scope.addHook("onSend", async (_request, reply, payload) => {
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
    void reply.headers({ ...defaultHeaders, "content-security-policy": upstreamResponsePolicy });
    return body;

    function replaceWithProblem(): string {
      onRejected(reason ?? "");
      // says that it was ended, as is meant
      if (payload instanceof Readable) payload.once("error", () => undefined).destroy();
      for (const name of Object.keys(reply.getHeaders())) reply.removeHeader(name);
      void reply.code(502).header("content-type", "application/problem+json").header("cache-control", "no-store");
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
