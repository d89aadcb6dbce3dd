import { createHash } from "node:crypto";

import { MissingObjectError, type ObjectStore } from "./object-store.ts";

/** An object as its row knows it. */
export interface StoredObject {
  readonly key: string;
  /** Bytes. */
  readonly size: number;
  /** Null where none was kept: then its size alone is looked at. */
  readonly sha256: Buffer | null;
}

export const damageFindings = ["missing", "changed", "unreadable"] as const;
type DamageFinding = (typeof damageFindings)[number];

/** A stored object is not what was kept. */
class DamagedObjectError extends Error {
  override readonly name = "DamagedObjectError";
  readonly finding: DamageFinding;

  constructor(finding: DamageFinding, options?: ErrorOptions) {
    super(`a stored object is ${finding}`, options);
    this.finding = finding;
  }
}

/** Where the service reads its objects, and whom it tells of those that are damaged. */
export interface ObjectSource {
  readonly objects: ObjectStore;
  /** Counts and names it. */
  readonly reportDamage: (key: string, finding: DamageFinding) => Promise<void>;
}

/**
 * The bytes `start` to `end` (both counted) of an object. All of the object is read, whatever is
 * asked of it: its digest is of the whole. The bytes go on as they come, but the last piece of them
 * only when the object is found to be the one that was kept; so no more than two pieces are held,
 * and whoever has got everything has got what was kept.
 *
 * @throws DamagedObjectError, reported already.
 */
export async function* readVerifiedObject(
  { objects, reportDamage }: ObjectSource,
  { key, size, sha256 }: StoredObject,
  start: number,
  end: number,
): AsyncGenerator<Buffer> {
  const digest = createHash("sha256");
  let offset = 0;
  let pendingChunk: Buffer | null = null;
  try {
    for await (const chunk of readChunks(objects, key)) {
      if (sha256 !== null) digest.update(chunk);
      const slice = chunk.subarray(Math.max(start - offset, 0), Math.max(end + 1 - offset, 0));
      offset += chunk.length;
      if (offset > size) break;
      if (slice.length === 0) continue;
      if (pendingChunk !== null) yield pendingChunk;
      pendingChunk = slice;
    }
    if (offset !== size || (sha256 !== null && !digest.digest().equals(sha256)))
      throw new DamagedObjectError("changed");
  } catch (error) {
    if (error instanceof DamagedObjectError) await reportDamage(key, error.finding);
    throw error;
  }
  if (pendingChunk !== null) yield pendingChunk;
}

async function* readChunks(objects: ObjectStore, key: string): AsyncGenerator<Buffer> {
  try {
    yield* (await objects.read(key)) as AsyncIterable<Buffer>;
  } catch (cause) {
    throw new DamagedObjectError(cause instanceof MissingObjectError ? "missing" : "unreadable", { cause });
  }
}
