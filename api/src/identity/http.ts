import type { IncomingMessage, ServerResponse } from "node:http";

/** A form of these pages is far smaller. */
const maxFormBytes = 16 * 1024;

/** What a request did wrong, before anybody looked at what it asks. */
export class BadRequest extends Error {
  override readonly name = "BadRequest";
  readonly status: number;

  constructor(status: 400 | 403 | 405 | 413 | 415, message: string) {
    super(message);
    this.status = status;
  }
}

/** @throws BadRequest when another site sent the form: the browser says so itself */
export function requireSameOrigin(request: IncomingMessage, origin: string): void {
  const site = request.headers["sec-fetch-site"];
  const from = request.headers.origin;
  if ((site !== undefined && site !== "same-origin") || (from !== undefined && from !== origin)) {
    throw new BadRequest(403, "a form that another site sent");
  }
}

/** The fields of a posted form; of two with one name the last counts. */
export async function readForm(request: IncomingMessage): Promise<Record<string, string>> {
  if (!/^application\/x-www-form-urlencoded\b/i.test(request.headers["content-type"] ?? "")) throw new BadRequest(415, "not a form");
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > maxFormBytes) throw new BadRequest(413, "a form that is too large");
    chunks.push(chunk);
  }
  return Object.fromEntries(new URLSearchParams(Buffer.concat(chunks).toString("utf8")));
}

export function sendHtml(response: ServerResponse, status: number, markup: string): void {
  response.statusCode = status;
  response.setHeader("Content-Type", "text/html; charset=utf-8");
  response.setHeader("Cache-Control", "no-store");
  response.end(markup);
}
