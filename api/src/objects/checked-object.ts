import { createHash } from "node:crypto";

import { ObjectMissing, type ObjectStore } from "./object-store.ts";

/** An object as its row knows it. */
export interface KeptObject {
  readonly key: string;
  /** Bytes. */
  readonly size: number;
  /** Null where none was kept: then its size alone is looked at. */
  readonly sha256: Buffer | null;
}

export const damageFindings = ["missing", "changed", "unreadable"] as const;
export type DamageFinding = (typeof damageFindings)[number];

/** A stored object is not what was kept. */
export class ObjectDamaged extends Error {
  override readonly name = "ObjectDamaged";
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
 * @throws ObjectDamaged, reported already.
 */
export async function* readChecked(
  { objects, reportDamage }: ObjectSource,
  { key, size, sha256 }: KeptObject,
  start: number,
  end: number,
): AsyncGenerator<Buffer> {
  const digest = createHash("sha256");
  let offset = 0;
  let held: Buffer | null = null;
  try {
    for await (const piece of piecesOf(objects, key)) {
      if (sha256 !== null) digest.update(piece);
      const wanted = piece.subarray(Math.max(start - offset, 0), Math.max(end + 1 - offset, 0));
      offset += piece.length;
      if (offset > size) break;
      if (wanted.length === 0) continue;
      if (held !== null) yield held;
      held = wanted;
    }
    if (offset !== size || (sha256 !== null && !digest.digest().equals(sha256))) throw new ObjectDamaged("changed");
  } catch (error) {
    if (error instanceof ObjectDamaged) await reportDamage(key, error.finding);
    throw error;
  }
  if (held !== null) yield held;
}

async function* piecesOf(objects: ObjectStore, key: string): AsyncGenerator<Buffer> {
  try {
    yield* (await objects.read(key)) as AsyncIterable<Buffer>;
  } catch (cause) {
    throw new ObjectDamaged(cause instanceof ObjectMissing ? "missing" : "unreadable", { cause });
  }
}
