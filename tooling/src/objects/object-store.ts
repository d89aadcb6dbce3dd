import { createHash, randomBytes } from "node:crypto";
import { Readable } from "node:stream";

import { UserFacingError } from "../user-facing-error.ts";

/** What `put` expects of the bytes. */
export interface ExpectedBytes {
  /** Bytes. */
  readonly size: number;
  /** 32 bytes. */
  readonly sha256: Buffer;
}

/**
 * Immutable sealed objects: a folder (folder-store.ts) or a bucket (s3-store.ts). What `put`
 * confirmed survives a power loss.
 *
 * Every method throws {@link ObjectStoreError} when the store is full, away or busy.
 */
export interface ObjectStore {
  /**
   * Stores an object completely or not at all. Idempotent for the same bytes. A stream is consumed,
   * and destroyed on failure; a buffer is not hashed again.
   *
   * @throws ExistingObjectError when the key has other bytes; WrongBytesError when the stream is
   *   not as expected; what the stream throws
   */
  put(key: string, bytes: Uint8Array | Readable, expected: ExpectedBytes): Promise<void>;
  /**
   * Streams all bytes, unverified.
   *
   * @throws MissingObjectError
   */
  read(key: string): Promise<Readable>;
  /** Idempotent. */
  delete(key: string): Promise<void>;
  /** Yields the keys of all objects and of anything else that is stored, each at least once. */
  list(): AsyncIterable<string>;
  /**
   * Writes, reads and deletes an object, unless a write succeeded within 30 s and no call failed
   * since.
   */
  check(): Promise<void>;
}

export class MissingObjectError extends Error {
  override readonly name = "MissingObjectError";
}

export class ExistingObjectError extends Error {
  override readonly name = "ExistingObjectError";
}

/** A stream differs from what was announced. */
export class WrongBytesError extends Error {
  override readonly name = "WrongBytesError";
  readonly reason: "too_long" | "too_short" | "other_digest";

  constructor(reason: WrongBytesError["reason"]) {
    super(`the bytes are not what was announced: ${reason}`);
    this.reason = reason;
  }
}

/** Faults of a store, not of an object. */
const storeFaults = {
  /** No space or quota is left, until someone makes room. */
  full: "the object store is full",
  /** It is not reachable or not writable, or refuses the credentials. */
  away: "the object store does not answer",
  /** It or this process has too many calls. */
  busy: "the object store has too many calls",
} as const;
export type ObjectStoreFault = keyof typeof storeFaults;

export class ObjectStoreError extends UserFacingError {
  override readonly name = "ObjectStoreError";
  readonly fault: ObjectStoreFault;

  constructor(fault: ObjectStoreFault, options?: ErrorOptions) {
    super(storeFaults[fault], options);
    this.fault = fault;
  }
}

/** What differs between stores; keys are valid, and streams end only as expected. */
export interface StoreBackend extends Pick<ObjectStore, "read" | "delete" | "list"> {
  /** @throws ExistingObjectError when the key exists */
  put(key: string, bytes: Buffer | Readable, expected: ExpectedBytes): Promise<void>;
  /** Fails when the store is known to be unusable; cheap enough for every readiness check. */
  ping(): Promise<void>;
}

/** `<account id>/<secret or answer id>/<version>-<random>`: nothing else becomes a path. */
const keyPattern = /^[0-9a-f-]{36}\/[0-9a-f-]{36}\/[0-9]{1,10}-[A-Za-z0-9_-]{1,40}$/;

const checkIntervalMilliseconds = 30_000;
const checkedBytes = Buffer.alloc(1024, "check");

export function createObjectStore(backend: StoreBackend): ObjectStore {
  /** Milliseconds of the monotonic clock. */
  let lastWrittenAt = -Infinity;
  let pendingCheck: Promise<void> | null = null;

  /** A fault makes the next check write. */
  const recordFaults = async <T>(call: Promise<T>): Promise<T> => {
    try {
      return await call;
    } catch (error) {
      if (error instanceof ObjectStoreError) lastWrittenAt = -Infinity;
      throw error;
    }
  };
  const put = async (key: string, bytes: Uint8Array | Readable, expected: ExpectedBytes): Promise<void> => {
    const source =
      bytes instanceof Readable
        ? Readable.from(verifyBytes(bytes, expected), { objectMode: false })
        : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    try {
      await backend.put(key, source, expected);
    } catch (error) {
      if (!(error instanceof ExistingObjectError) || !(await hasBytes(backend, key, expected))) throw error;
    } finally {
      if (bytes instanceof Readable) bytes.destroy();
    }
    lastWrittenAt = performance.now();
  };
  const writeCheckObject = async (): Promise<void> => {
    await backend.ping();
    if (performance.now() - lastWrittenAt < checkIntervalMilliseconds) return;
    const key = `check-${randomBytes(6).toString("hex")}`;
    const expected = { size: checkedBytes.length, sha256: createHash("sha256").update(checkedBytes).digest() };
    try {
      await put(key, checkedBytes, expected);
      if (!(await hasBytes(backend, key, expected))) throw new Error("the object store returns wrong bytes");
    } finally {
      await backend.delete(key);
    }
  };
  return {
    put: async (key, bytes, expected) => recordFaults(put(requireKey(key), bytes, expected)),
    read: async (key) => recordFaults(backend.read(requireKey(key))),
    delete: async (key) => recordFaults(backend.delete(requireKey(key))),
    list: () => backend.list(),
    check() {
      pendingCheck ??= recordFaults(writeCheckObject()).finally(() => {
        pendingCheck = null;
      });
      return pendingCheck;
    },
  };
}

function requireKey(key: string): string {
  if (!keyPattern.test(key)) throw new TypeError("not an object key");
  return key;
}

/**
 * Passes bytes on, and the last of them only when size and digest match: a store never receives a
 * complete wrong object.
 *
 * @throws WrongBytesError, and what the source throws
 */
export async function* verifyBytes(source: Readable, { size, sha256 }: ExpectedBytes): AsyncGenerator<Buffer> {
  const digest = createHash("sha256");
  let receivedBytes = 0;
  let pendingChunk: Buffer | null = null;
  for await (const chunk of source as AsyncIterable<Buffer>) {
    receivedBytes += chunk.length;
    if (receivedBytes > size) throw new WrongBytesError("too_long");
    digest.update(chunk);
    if (pendingChunk !== null) yield pendingChunk;
    pendingChunk = chunk;
  }
  if (receivedBytes < size) throw new WrongBytesError("too_short");
  if (!digest.digest().equals(sha256)) throw new WrongBytesError("other_digest");
  if (pendingChunk !== null) yield pendingChunk;
}

async function hasBytes(backend: Pick<StoreBackend, "read">, key: string, expected: ExpectedBytes): Promise<boolean> {
  const stored = await hashObject(backend, key);
  return stored?.size === expected.size && stored.sha256.equals(expected.sha256);
}

/** Size and digest of a stored object; null when it is missing. */
export async function hashObject(store: Pick<ObjectStore, "read">, key: string): Promise<ExpectedBytes | null> {
  const digest = createHash("sha256");
  let size = 0;
  try {
    for await (const chunk of (await store.read(key)) as AsyncIterable<Buffer>) {
      digest.update(chunk);
      size += chunk.length;
    }
  } catch (error) {
    if (error instanceof MissingObjectError) return null;
    throw error;
  }
  return { size, sha256: digest.digest() };
}
