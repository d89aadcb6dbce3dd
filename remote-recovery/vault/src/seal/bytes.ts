import { sha256 as nobleSha256 } from "@noble/hashes/sha2.js";

/** Bytes with a buffer of their own: what WebCrypto takes. */
export type Bytes = Uint8Array<ArrayBuffer>;

const encoder = new TextEncoder();

/** UTF-8. The string must be well-formed; ill-formed text is refused before it gets here. */
export function utf8(text: string): Bytes {
  return encoder.encode(text);
}

/** `‖` of the formats: the parts one after another, in a fresh buffer. */
export function concatBytes(...parts: readonly Uint8Array[]): Bytes {
  const result = new Uint8Array(parts.reduce((total, part) => total + part.length, 0));
  let offset = 0;
  for (const part of parts) {
    result.set(part, offset);
    offset += part.length;
  }
  return result;
}

/** A copy with a buffer of its own, whatever kind of buffer the library gave. */
export function copyOf(bytes: Uint8Array): Bytes {
  return new Uint8Array(bytes);
}

/** Little-endian 32-bit length: `len32` of the formats. */
export function encodeUint32LE(value: number): Bytes {
  const bytes = new Uint8Array(4);
  new DataView(bytes.buffer).setUint32(0, value, true);
  return bytes;
}

/**
 * SHA-256 of the parts joined. For whole contents use {@link sha256Async}, which leaves the thread
 * free.
 */
export function sha256(...parts: readonly Uint8Array[]): Bytes {
  const digest = createSha256();
  for (const part of parts) digest.update(part);
  return digest.finish();
}

/** SHA-256 over bytes that come one after another. */
export function createSha256(): { readonly update: (bytes: Uint8Array) => void; readonly finish: () => Bytes } {
  const hash = nobleSha256.create();
  return { update: (bytes) => void hash.update(bytes), finish: () => copyOf(hash.digest()) };
}

/** SHA-256 by WebCrypto. */
export async function sha256Async(bytes: Bytes): Promise<Bytes> {
  return new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
}

export function randomBytes(length: number): Bytes {
  return crypto.getRandomValues(new Uint8Array(length));
}

/**
 * Compares without an early exit, so that the time says nothing of where two authenticators differ.
 */
export function equalBytes(left: Uint8Array, right: Uint8Array): boolean {
  if (left.length !== right.length) return false;
  let difference = 0;
  for (const [index, byte] of left.entries()) difference |= byte ^ (right[index] ?? 0);
  return difference === 0;
}

/** Fills with zeros: the best that JavaScript can do for bytes that held a key. */
export function wipe(...secrets: readonly (Uint8Array | null | undefined)[]): void {
  for (const secret of secrets) secret?.fill(0);
}

declare global {
  interface ArrayBuffer {
    /** ES2024; missing in a few browsers that are still in use. */
    transfer?(newByteLength: number): ArrayBuffer;
  }
}

/**
 * Gives the memory of large bytes back at once. Left to the collector they stand around for a
 * while, and the parts of a file come faster than it does. They are empty afterwards; where the
 * browser has no way to do so, nothing happens.
 */
export function freeBuffers(...buffers: readonly Bytes[]): void {
  for (const { buffer } of buffers) buffer.transfer?.(0);
}

/** Runs `callback` with secret bytes and wipes them afterwards, whatever happens. */
export async function withWipedBytes<T>(secret: Bytes, callback: (secret: Bytes) => T | Promise<T>): Promise<T> {
  try {
    return await callback(secret);
  } finally {
    wipe(secret);
  }
}

/** The chunks of a stream. Streams can be iterated over in newer browsers only. */
export async function* readChunks(stream: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array> {
  const reader = stream.getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      yield value;
    }
  } finally {
    await reader.cancel().catch(() => undefined); // what failed first is told
  }
}
