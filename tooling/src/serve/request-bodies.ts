import type { Readable, Transform } from "node:stream";
import { buffer } from "node:stream/consumers";

import { maxJsonBodyBytes, maxPartBytes } from "@relicario/shared/api";
import type { FastifyInstance, FastifyRequest } from "fastify";

/**
 * A form up to this size is buffered; a larger one is a part of an upload. Node reads as much ahead
 * anyway.
 */
export const maxBufferedFormBytes = 64 * 1024;
/** An upload part with the other fields of its form. */
const maxFormBytes = maxPartBytes + maxBufferedFormBytes;

const formType = /^multipart\/form-data\b/i;

/**
 * Whether a body is streamed. Others are buffered first, so that a slow sender occupies nothing at
 * the service.
 */
export function isStreamed({ headers }: FastifyRequest): boolean {
  return (
    formType.test(headers["content-type"] ?? "") &&
    (parseContentLength(headers["content-length"]) ?? Infinity) > maxBufferedFormBytes
  );
}

/**
 * Declared bytes of a body that is buffered; the allowed maximum where the request declares none.
 */
export function getBufferedBytes(request: FastifyRequest): number {
  const { headers } = request;
  if (isStreamed(request)) return 0;
  return (
    parseContentLength(headers["content-length"]) ?? (headers["transfer-encoding"] === undefined ? 0 : maxJsonBodyBytes)
  );
}

export function isTooLarge(request: FastifyRequest): boolean {
  return (
    (parseContentLength(request.headers["content-length"]) ?? 0) >
    (isStreamed(request) ? maxFormBytes : maxJsonBodyBytes)
  );
}

export function registerBodyParsers(scope: FastifyInstance): void {
  scope.removeAllContentTypeParsers();
  scope.addContentTypeParser(formType, async (request: FastifyRequest, payload: Readable) =>
    isStreamed(request) ? payload : buffer(payload),
  );
  scope.addContentTypeParser(
    "*",
    { parseAs: "buffer", bodyLimit: maxJsonBodyBytes },
    async (_request: FastifyRequest, body: Buffer) => body,
  );
}

/**
 * Copies a body to a separate stream. A proxy destroys the body of a call that is answered early;
 * destroying the request itself would close the connection that has to carry the response. The rest
 * is read and dropped, because browsers read a response after they have sent everything.
 */
export function detachBody(request: Readable, createTransform: () => Transform): Readable {
  const detached = createTransform();
  request.once("close", () => {
    if (!request.readableEnded) detached.destroy();
  });
  detached.once("close", () => {
    request.unpipe(detached);
    if (!request.readableEnded) request.pipe(createTransform()).resume();
  });
  return request.pipe(detached);
}

function parseContentLength(length: string | undefined): number | null {
  return length === undefined ? null : Number(length);
}
