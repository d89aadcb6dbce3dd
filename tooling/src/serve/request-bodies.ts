import type { Readable, Transform } from "node:stream";
import { buffer } from "node:stream/consumers";

import { maxJsonBodyBytes, maxPartBytes } from "@relicario/shared/api";
import type { FastifyInstance, FastifyRequest } from "fastify";

/**
 * A form up to this size is held until it is whole; a larger one is a part of an upload. Node reads
 * as much ahead even where nobody asks for it.
 */
export const maxBufferedFormBytes = 64 * 1024;
/** A part with the other fields of its form. */
const maxFormBytes = maxPartBytes + maxBufferedFormBytes;

const formType = /^multipart\/form-data\b/i;

/**
 * Whether the body goes on to the service as it arrives. All others are held until they are whole,
 * so that a slow sender holds nothing of the service.
 */
export function isStreamed({ headers }: FastifyRequest): boolean {
  return (
    formType.test(headers["content-type"] ?? "") &&
    (parseContentLength(headers["content-length"]) ?? Infinity) > maxBufferedFormBytes
  );
}

/**
 * Bytes that the body will take while it is held: the most that is allowed where the request does
 * not say.
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

/** Reads the bodies of a scope: as a buffer, or a stream for those that are streamed. */
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
 * The same bytes in a stream of its own. A call that is answered before its body was sent ends with
 * its body destroyed, and with the request itself its connection would go, which still has to carry
 * the answer. What is left of the request is read and dropped: browsers look at an answer when they
 * have sent everything.
 *
 * @param createTransform what the bytes go through, those that are dropped, too
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
