import { createHash } from "node:crypto";

import { MissingObjectError, ObjectStoreError, type ObjectStore } from "@relicario/tooling/objects";

/** An object as its row describes it. */
export interface StoredObject {
  readonly key: string;
  /** Bytes. */
  readonly size: number;
  /** Null for old rows: then only the size is checked. */
  readonly sha256: Buffer | null;
}

export const damageFindings = ["missing", "changed", "unreadable"] as const;
type DamageFinding = (typeof damageFindings)[number];

/** A stored object differs from what was written. */
class DamagedObjectError extends Error {
  override readonly name = "DamagedObjectError";
  readonly finding: DamageFinding;

  constructor(finding: DamageFinding, options?: ErrorOptions) {
    super(`a stored object is ${finding}`, options);
    this.finding = finding;
  }
}

/** The store, and the report of damaged objects. */
export interface ObjectSource {
  readonly objects: ObjectStore;
  /** Counts and logs it. */
  readonly reportDamage: (key: string, finding: DamageFinding) => Promise<void>;
}

/**
 * Yields the bytes `start` to `end` (inclusive) of an object. Always reads all of it, because the
 * digest covers it. Chunks are passed on while reading, the last one only after verification: at
 * most two chunks are in memory, and a complete result is a verified one.
 *
 * @throws DamagedObjectError, after reporting it.
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
    if (cause instanceof ObjectStoreError) throw cause; // the store is at fault, not the object
    throw new DamagedObjectError(cause instanceof MissingObjectError ? "missing" : "unreadable", { cause });
  }
}
