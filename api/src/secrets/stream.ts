import { createHash } from "node:crypto";
import { once } from "node:events";
import type { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";

import type { FastifyReply, FastifyRequest } from "fastify";

import type { Tx } from "../db/database.ts";
import { inOneMoment } from "../keyring/queries.ts";
import type { KeptObject } from "../objects/checked-object.ts";
import type { Services } from "../services.ts";
import { objectsOf, rangeOf, streamContent, type ContentPlace } from "./content.ts";
import type { OwnSecrets } from "./policy.ts";
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

export interface StreamRequest extends RangeRequest {
  readonly id: string;
  /** The present one when undefined. */
  readonly version: number | undefined;
}

export function rangeRequestOf({ headers }: Pick<FastifyRequest, "headers">): RangeRequest {
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
  own: OwnSecrets,
  { id, version, ...asked }: StreamRequest,
): Promise<StreamedContent> {
  return openKept(services, asked, async (tx) => {
    const { wanted } = await findVersion(tx, own, id, version);
    return { ...wanted, read: (from, to) => readObjects(tx, own, wanted, from, to) };
  });
}

/** A content as its rows know it. `read` gives the objects with these numbers, from 1. */
export interface KeptContent extends ContentPlace {
  readonly contentSha256: Buffer;
  readonly read: (from: number, to: number) => Promise<KeptObject[]>;
}

/**
 * All of a content, or a range. Its ETag is the content's own digest, so that `If-Range` never
 * mixes two of them.
 */
export async function openKept(
  services: Services,
  { range, ifRange }: RangeRequest,
  find: (tx: Tx) => Promise<KeptContent>,
): Promise<StreamedContent> {
  const content = await inOneMoment(services.db, async (tx): Promise<StreamedContent> => {
    const wanted = await find(tx);
    const etag = `"${wanted.contentSha256.toString("base64url")}"`;
    const asked = ifRange === undefined || ifRange === etag ? rangeOf(range, wanted.size) : null;
    const given = asked ?? { start: 0, end: wanted.size - 1 };
    const { from, to } = objectsOf(wanted, given);
    const kept = await wanted.read(from, to);
    if (kept.length !== to - from + 1) throw new Error("a content without its objects");
    const headers = {
      "content-type": "application/octet-stream",
      "content-length": String(given.end - given.start + 1),
      "accept-ranges": "bytes",
      etag,
      ...(asked === null
        ? {}
        : { "content-range": `bytes ${String(given.start)}-${String(given.end)}/${String(wanted.size)}` }),
    };
    return { status: asked === null ? 200 : 206, headers, bytes: streamContent(services, wanted, kept, given) };
  });
  // damage that shows before the first byte is a problem, not an answer that breaks off
  await once(content.bytes, "readable");
  return content;
}

/**
 * The whole of a small content, read through: other bytes than those that were kept are never
 * given.
 */
export async function readContent(services: Services, own: OwnSecrets, wanted: VersionRow): Promise<Buffer> {
  const whole = { start: 0, end: wanted.size - 1 };
  const { from, to } = objectsOf(wanted, whole);
  const content = await buffer(
    streamContent(services, wanted, await readObjects(services.db, own, wanted, from, to), whole),
  );
  if (!createHash("sha256").update(content).digest().equals(wanted.contentSha256))
    throw new Error("a stored object has other bytes");
  return content;
}
