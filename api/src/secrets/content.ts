import { Readable } from "node:stream";

import { Problem } from "../http/problem.ts";
import { readVerifiedObject, type StoredObject, type ObjectSource } from "../objects/verified-object.ts";

/** How a sealed content is split: objects of `partSize` bytes, the last one smaller. */
export interface ContentLayout {
  readonly size: number;
  readonly partSize: number;
}

/** Both inclusive. */
export interface ByteRange {
  readonly start: number;
  readonly end: number;
}

/**
 * Parses a `Range` header. Returns null for the whole content: without a header, and for anything
 * but one `bytes` range, which a server may ignore (RFC 9110 14.2).
 *
 * @throws Problem `range_not_satisfiable` when it starts beyond the end.
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

/** Numbers, from 1, of the first and last object of a range. */
export function getObjectNumbers({ partSize }: ContentLayout, { start, end }: ByteRange): { from: number; to: number } {
  return { from: Math.floor(start / partSize) + 1, to: Math.floor(end / partSize) + 1 };
}

/** @param objectNumber from 1 */
export function getObjectSize({ size, partSize }: ContentLayout, objectNumber: number): number {
  return Math.min(partSize, size - (objectNumber - 1) * partSize);
}

/**
 * Streams a range, object by object, each verified before its last bytes are passed on
 * (verified-object.ts). Fails with DamagedObjectError.
 *
 * @param objects those of {@link getObjectNumbers}
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
