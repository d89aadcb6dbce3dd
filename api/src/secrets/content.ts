import { Readable } from "node:stream";

import { Problem } from "../http/problem.ts";
import { readVerifiedObject, type StoredObject, type ObjectSource } from "../objects/verified-object.ts";

/** Where a sealed content is: its objects in order, all of `partSize` bytes but the last. */
export interface ContentLayout {
  readonly size: number;
  readonly partSize: number;
}

/** Both counted. */
export interface ByteRange {
  readonly start: number;
  readonly end: number;
}

/**
 * The bytes that a `Range` header asks for; null for all of them: without a header, and for ranges
 * that are not one `bytes` range, which a server may pass over (RFC 9110 14.2).
 *
 * @throws Problem `range_not_satisfiable` when it begins behind the end.
 */
export function parseRange(header: string | undefined, size: number): ByteRange | null {
  const [, from = "", to = ""] = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(header?.trim() ?? "") ?? [];
  if (from === "" && to === "") return null;
  const range =
    from === ""
      ? { start: Math.max(0, size - Number(to)), end: size - 1 }
      : { start: Number(from), end: to === "" ? size - 1 : Math.min(Number(to), size - 1) };
  if (from !== "" && to !== "" && Number(from) > Number(to)) return null;
  if (range.start > range.end)
    throw new Problem("range_not_satisfiable", { headers: { "content-range": `bytes */${String(size)}` } });
  return range;
}

/** Numbers, from 1, of the objects that hold these bytes. */
export function getObjectNumbers({ partSize }: ContentLayout, { start, end }: ByteRange): { from: number; to: number } {
  return { from: Math.floor(start / partSize) + 1, to: Math.floor(end / partSize) + 1 };
}

/** Bytes of the object with this number, from 1. */
export function getObjectSize({ size, partSize }: ContentLayout, objectNumber: number): number {
  return Math.min(partSize, size - (objectNumber - 1) * partSize);
}

/**
 * These bytes, one object after the other, each checked before its last bytes go on ([Note: Objects
 * and rows]). `objects` are those of {@link getObjectNumbers}. Ends with DamagedObjectError.
 */
export function streamContent(
  source: ObjectSource,
  { partSize }: ContentLayout,
  objects: readonly StoredObject[],
  { start, end }: ByteRange,
): Readable {
  return Readable.from(
    (async function* () {
      const firstIndex = Math.floor(start / partSize);
      for (const [index, object] of objects.entries()) {
        const offset = (firstIndex + index) * partSize;
        yield* readVerifiedObject(source, object, Math.max(start - offset, 0), Math.min(end - offset, object.size - 1));
      }
    })(),
    { objectMode: false },
  );
}
