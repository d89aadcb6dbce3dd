import { hash } from "node:crypto";
import { once } from "node:events";
import type { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";

import type { FastifyReply, FastifyRequest } from "fastify";

import type { AccountScope } from "../auth/actor.ts";
import { withSnapshot, type Tx } from "../db/database.ts";
import type { StoredObject } from "../objects/verified-object.ts";
import type { Services } from "../services/services.ts";
import { getObjectNumbers, parseRange, streamContent, type ContentLayout } from "./content.ts";
import { findVersion, readObjects, type VersionRow } from "./queries.ts";

export interface StreamedContent {
  readonly status: 200 | 206;
  readonly headers: Readonly<Record<string, string>>;
  readonly stream: Readable;
}

/** The headers `Range` and `If-Range`. */
export interface RangeRequest {
  readonly range: string | undefined;
  readonly ifRange: string | undefined;
}

export interface ContentRequest extends RangeRequest {
  readonly id: string;
  /** The current version when undefined. */
  readonly version: number | undefined;
}

export function readRangeRequest({ headers }: Pick<FastifyRequest, "headers">): RangeRequest {
  const { range, "if-range": ifRange } = headers;
  return { range, ifRange: typeof ifRange === "string" ? ifRange : undefined };
}

export function sendContent(reply: FastifyReply, { status, headers, stream }: StreamedContent): FastifyReply {
  if (reply.sent || reply.raw.destroyed) {
    stream.destroy(); // too late to send; destroying the stream closes its file
    return reply;
  }
  return reply.code(status).headers(headers).send(stream);
}

export function openContent(
  services: Services,
  scope: AccountScope,
  { id, version, ...rangeRequest }: ContentRequest,
): Promise<StreamedContent> {
  return openStoredContent(services, rangeRequest, async (tx) => {
    const { storedVersion } = await findVersion(tx, scope, id, version);
    return { ...storedVersion, readObjects: (from, to) => readObjects(tx, scope, storedVersion, from, to) };
  });
}

/** A content as its rows describe it. `readObjects` takes object numbers, from 1. */
export interface StoredContent extends ContentLayout {
  readonly contentSha256: Buffer;
  readonly readObjects: (from: number, to: number) => Promise<StoredObject[]>;
}

/**
 * Streams a content or a range of it. The ETag is the content's digest, so that `If-Range` never
 * mixes two contents.
 */
export async function openStoredContent(
  services: Services,
  { range, ifRange }: RangeRequest,
  findContent: (tx: Tx) => Promise<StoredContent>,
): Promise<StreamedContent> {
  const streamedContent = await withSnapshot(services.db, async (tx): Promise<StreamedContent> => {
    const storedContent = await findContent(tx);
    const etag = `"${storedContent.contentSha256.toString("base64url")}"`;
    const requestedRange = ifRange === undefined || ifRange === etag ? parseRange(range, storedContent.size) : null;
    const servedRange = requestedRange ?? { start: 0, end: storedContent.size - 1 };
    const { from, to } = getObjectNumbers(storedContent, servedRange);
    const storedObjects = await storedContent.readObjects(from, to);
    if (storedObjects.length !== to - from + 1) throw new Error("objects of the content are missing");
    const headers = {
      "content-type": "application/octet-stream",
      "content-length": String(servedRange.end - servedRange.start + 1),
      "accept-ranges": "bytes",
      etag,
      ...(requestedRange === null
        ? {}
        : {
            "content-range": `bytes ${String(servedRange.start)}-${String(servedRange.end)}/${String(storedContent.size)}`,
          }),
    };
    return {
      status: requestedRange === null ? 200 : 206,
      headers,
      stream: streamContent(services, storedContent, storedObjects, servedRange),
    };
  });
  // damage before the first byte gives an error response instead of a broken stream
  await once(streamedContent.stream, "readable");
  return streamedContent;
}

/** Reads a small content, verified. */
export async function readContent(services: Services, scope: AccountScope, storedVersion: VersionRow): Promise<Buffer> {
  const fullRange = { start: 0, end: storedVersion.size - 1 };
  const { from, to } = getObjectNumbers(storedVersion, fullRange);
  const content = await buffer(
    streamContent(services, storedVersion, await readObjects(services.db, scope, storedVersion, from, to), fullRange),
  );
  if (!hash("sha256", content, "buffer").equals(storedVersion.contentSha256))
    throw new Error("the stored content has another digest");
  return content;
}
