import { createHash } from "node:crypto";
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
  readonly bytes: Readable;
}

/** What of it is asked for, by the headers `Range` and `If-Range`. */
export interface RangeRequest {
  readonly range: string | undefined;
  readonly ifRange: string | undefined;
}

export interface ContentRequest extends RangeRequest {
  readonly id: string;
  /** The present one when undefined. */
  readonly version: number | undefined;
}

export function readRangeRequest({ headers }: Pick<FastifyRequest, "headers">): RangeRequest {
  const { range, "if-range": ifRange } = headers;
  return { range, ifRange: typeof ifRange === "string" ? ifRange : undefined };
}

export function sendContent(reply: FastifyReply, { status, headers, bytes }: StreamedContent): FastifyReply {
  if (reply.sent || reply.raw.destroyed) {
    bytes.destroy(); // too late, or for nobody: its file would stay open
    return reply;
  }
  return reply.code(status).headers(headers).send(bytes);
}

/** The sealed content of one version, or a range of it. */
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

/** A content as its rows know it. `readObjects` gives those with these numbers, from 1. */
export interface StoredContent extends ContentLayout {
  readonly contentSha256: Buffer;
  readonly readObjects: (from: number, to: number) => Promise<StoredObject[]>;
}

/**
 * All of a content, or a range. Its ETag is the content's own digest, so that `If-Range` never
 * mixes two of them.
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
    if (storedObjects.length !== to - from + 1) throw new Error("a content without its objects");
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
      bytes: streamContent(services, storedContent, storedObjects, servedRange),
    };
  });
  // damage that shows before the first byte is a problem, not an answer that breaks off
  await once(streamedContent.bytes, "readable");
  return streamedContent;
}

/**
 * The whole of a small content, read through: other bytes than those that were kept are never
 * given.
 */
export async function readContent(services: Services, scope: AccountScope, storedVersion: VersionRow): Promise<Buffer> {
  const fullRange = { start: 0, end: storedVersion.size - 1 };
  const { from, to } = getObjectNumbers(storedVersion, fullRange);
  const content = await buffer(
    streamContent(services, storedVersion, await readObjects(services.db, scope, storedVersion, from, to), fullRange),
  );
  if (!createHash("sha256").update(content).digest().equals(storedVersion.contentSha256))
    throw new Error("a stored object has other bytes");
  return content;
}
