import { sha256 as nobleSha256 } from "@noble/hashes/sha2.js";

/** Bytes in an ArrayBuffer, as WebCrypto requires. */
export type Bytes = Uint8Array<ArrayBuffer>;

const encoder = new TextEncoder();

/** Encodes a well-formed string as UTF-8. Callers refuse other strings. */
export function utf8(text: string): Bytes {
  return encoder.encode(text);
}

/** Joins the parts in a new buffer: `‖` in the formats. */
export function concatBytes(...parts: readonly Uint8Array[]): Bytes {
  const result = new Uint8Array(parts.reduce((total, part) => total + part.length, 0));
  let offset = 0;
  for (const part of parts) {
    result.set(part, offset);
    offset += part.length;
  }
  return result;
}

/** Copies bytes to a new ArrayBuffer, whatever kind of buffer they are in. */
export function copyOf(bytes: Uint8Array): Bytes {
  return new Uint8Array(bytes);
}

/** Encodes a 32-bit length in little-endian order: `len32` in the formats. */
export function encodeUint32LE(value: number): Bytes {
  const bytes = new Uint8Array(4);
  new DataView(bytes.buffer).setUint32(0, value, true);
  return bytes;
}

/**
 * SHA-256 of the joined parts. For whole contents use {@link sha256Async}, which does not block the
 * thread.
 */
export function sha256(...parts: readonly Uint8Array[]): Bytes {
  const digest = createSha256();
  for (const part of parts) digest.update(part);
  return digest.finish();
}

export function createSha256(): { readonly update: (bytes: Uint8Array) => void; readonly finish: () => Bytes } {
  const hash = nobleSha256.create();
  return { update: (bytes) => void hash.update(bytes), finish: () => copyOf(hash.digest()) };
}

/** SHA-256 computed by WebCrypto. */
export async function sha256Async(bytes: Bytes): Promise<Bytes> {
  return new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
}

export function randomBytes(length: number): Bytes {
  return crypto.getRandomValues(new Uint8Array(length));
}

/** Compares all bytes, so that timing does not reveal where two authenticators differ. */
export function equalBytes(left: Uint8Array, right: Uint8Array): boolean {
  if (left.length !== right.length) return false;
  let difference = 0;
  for (const [index, byte] of left.entries()) difference |= byte ^ (right[index] ?? 0);
  return difference === 0;
}

/** Overwrites secrets with zeros, which is all that JavaScript can do to remove them. */
export function wipe(...secrets: readonly (Uint8Array | null | undefined)[]): void {
  for (const secret of secrets) secret?.fill(0);
}

declare global {
  interface ArrayBuffer {
    /** ES2024; some browsers in use lack it. */
    transfer?(newByteLength: number): ArrayBuffer;
  }
}

/**
 * Frees the memory of large buffers immediately and leaves them empty, because the parts of a file
 * arrive faster than the garbage collector frees them. Does nothing if the browser lacks
 * `transfer`.
 */
export function freeBuffers(...buffers: readonly Bytes[]): void {
  for (const { buffer } of buffers) buffer.transfer?.(0);
}

/** Runs `callback` with secret bytes and then always wipes them. */
export async function withWipedBytes<T>(secret: Bytes, callback: (secret: Bytes) => T | Promise<T>): Promise<T> {
  try {
    return await callback(secret);
  } finally {
    wipe(secret);
  }
}

/** Yields the chunks of a stream. Only newer browsers can iterate over streams directly. */
export async function* readChunks(stream: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array> {
  const reader = stream.getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      yield value;
    }
  } finally {
    await reader.cancel().catch(() => undefined); // only the first error is reported
  }
}
