import type { IncomingMessage, ServerResponse } from "node:http";

/** What is sent here is far smaller. */
const maxBodyBytes = 16 * 1024;

/** What a request did wrong, before anybody looked at what it asks. */
export class RequestError extends Error {
  override readonly name = "RequestError";
  readonly status: number;

  constructor(status: 400 | 403 | 405 | 413 | 415, message: string) {
    super(message);
    this.status = status;
  }
}

/** @throws RequestError when another site sent the form: the browser says so itself */
export function requireSameOrigin(request: IncomingMessage, origin: string): void {
  const fetchSite = request.headers["sec-fetch-site"];
  const originHeader = request.headers.origin;
  if (
    (fetchSite !== undefined && fetchSite !== "same-origin") ||
    (originHeader !== undefined && originHeader !== origin)
  ) {
    throw new RequestError(403, "a form that another site sent");
  }
}

/** The fields of a posted form; of two with one name the last counts. */
export async function readForm(request: IncomingMessage): Promise<Record<string, string>> {
  return Object.fromEntries(new URLSearchParams(await readBody(request, /^application\/x-www-form-urlencoded\b/i)));
}

/** @throws RequestError when it is of another media type, or too large */
export async function readBody(request: IncomingMessage, mediaType: RegExp): Promise<string> {
  if (!mediaType.test(request.headers["content-type"] ?? "")) throw new RequestError(415, "of another media type");
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > maxBodyBytes) throw new RequestError(413, "a body that is too large");
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}

export function sendHtml(response: ServerResponse, status: number, markup: string): void {
  response.statusCode = status;
  response.setHeader("Content-Type", "text/html; charset=utf-8");
  response.setHeader("Cache-Control", "no-store");
  response.end(markup);
}
