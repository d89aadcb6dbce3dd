import type { Readable } from "node:stream";

/**
 * Immutable sealed objects. A key is never written twice with other bytes; what `put` confirmed
 * survives a loss of power. A folder by default (folder-store.ts); an S3-compatible store fits the
 * same face.
 */
export interface ObjectStore {
  put(key: string, bytes: Uint8Array | Readable): Promise<void>;
  /**
   * All of its bytes, as they are read. Nobody but verified-object.ts asks: what a store gives back
   * is looked at first.
   *
   * @throws MissingObjectError
   */
  read(key: string): Promise<Readable>;
  /** Nothing happens when there is none. */
  delete(key: string): Promise<void>;
  /** Throws when it cannot be written to. */
  checkWritable(): Promise<void>;
}

export class MissingObjectError extends Error {
  override readonly name = "MissingObjectError";
}
