import { Readable } from "node:stream";

import { hashObject, ObjectStoreError, WrongBytesError, type ObjectStore } from "./object-store.ts";

/** An object as its row describes it. */
export interface ObjectReference {
  readonly key: string;
  /** Bytes. */
  readonly size: number;
  /** Hex; null in rows of older releases. */
  readonly sha256: string | null;
}

const concurrentCopies = 8;

/**
 * Copies objects, several at a time.
 *
 * @returns as {@link copyObject}, in the order of the references
 */
export async function copyObjects(
  source: ObjectStore,
  target: ObjectStore,
  references: readonly ObjectReference[],
): Promise<(string | null)[]> {
  const results = references.map((): string | null => null);
  const pending = references.entries();
  const copyPending = async (): Promise<void> => {
    for (const [index, reference] of pending) results[index] = await copyObject(source, target, reference);
  };
  await Promise.all(Array.from({ length: concurrentCopies }, copyPending));
  return results;
}

/**
 * Copies an object whose size and digest match. Idempotent.
 *
 * @returns its digest (hex); null when it is missing, damaged or unreadable
 */
export async function copyObject(
  source: ObjectStore,
  target: ObjectStore,
  { key, size, sha256 }: ObjectReference,
): Promise<string | null> {
  const digest = sha256 === null ? await hashReadableObject(source, key) : Buffer.from(sha256, "hex");
  if (digest === null) return null;
  let sourceError: unknown = null;
  const readSource = async function* (): AsyncGenerator<Buffer> {
    try {
      yield* (await source.read(key)) as AsyncIterable<Buffer>;
    } catch (error) {
      sourceError = error;
      throw error;
    }
  };
  try {
    await target.put(key, Readable.from(readSource(), { objectMode: false }), { size, sha256: digest });
    return digest.toString("hex");
  } catch (error) {
    const isDamaged = error === sourceError && !(error instanceof ObjectStoreError);
    if (isDamaged || error instanceof WrongBytesError) return null;
    throw error;
  }
}

async function hashReadableObject(source: ObjectStore, key: string): Promise<Buffer | null> {
  try {
    return (await hashObject(source, key))?.sha256 ?? null;
  } catch (error) {
    if (error instanceof ObjectStoreError) throw error;
    return null; // unreadable
  }
}
