import { PortalError } from "@relicario/shared/errors";
import libsodium, { type Sodium } from "libsodium";

import { equalBytes, freeBuffers, wipe, type Bytes } from "../seal/bytes.ts";
import { chunkSize, sealedChunkSize, tagSize } from "../seal/content-sizes.ts";
import { createChunkNonce } from "../seal/content-stream.ts";

declare global {
  interface SubtleCrypto {
    /** Modern Algorithms in the Web Cryptography API; not yet in TypeScript's types. */
    importKey(
      format: "raw-secret",
      keyData: BufferSource,
      algorithm: string,
      extractable: boolean,
      keyUsages: readonly KeyUsage[],
    ): Promise<CryptoKey>;
  }
}

/** Seals and opens the chunks of one content. Candidates and timings: docs/decisions/0016. */
export interface ChunkCipher {
  readonly backend: "browser" | "libsodium";
  /**
   * Seals a chunk of at most 64 KiB. Copies the chunk before returning, so that the caller may
   * reuse its buffer immediately.
   *
   * @param isLast whether the content ends with this chunk
   */
  readonly seal: (plaintext: Bytes, index: number, isLast: boolean) => Promise<Bytes>;
  /** Returns null if the chunk cannot be authenticated. */
  readonly open: (sealed: Bytes, index: number, isLast: boolean) => Promise<Bytes | null>;
  /** Wipes the key. */
  readonly dispose: () => void;
}

/** Enough to keep the browser's threads busy, with chunks queued behind them. */
const maxConcurrentChunks = 4;

/**
 * Uses the browser's ChaCha20-Poly1305 if it passes a known-answer test, otherwise libsodium.
 *
 * @param key 32 bytes, which the caller wipes
 */
export async function createChunkCipher(key: Bytes, backend?: ChunkCipher["backend"]): Promise<ChunkCipher> {
  const nativeCipher =
    backend === "libsodium" || !(await isNativeCipherCorrect()) ? null : await createNativeCipher(key);
  if (nativeCipher === null && backend === "browser") throw new PortalError("vault_unavailable");
  return nativeCipher ?? (await createSodiumCipher(key));
}

/** Runs at most {@link maxConcurrentChunks} tasks at the same time. */
export class ChunkPool {
  readonly #running = new Set<Promise<void>>();

  /** Waits for a free place. Throws the first failure, like {@link drain}. */
  async add(task: Promise<void>): Promise<void> {
    const tracked = task.then(() => void this.#running.delete(tracked));
    tracked.catch(() => undefined); // add or drain throws the failure
    this.#running.add(tracked);
    if (this.#running.size >= maxConcurrentChunks) await Promise.race(this.#running);
  }

  async drain(): Promise<void> {
    await Promise.all(this.#running);
  }

  /** Waits for all tasks, including failed ones. */
  async settle(): Promise<void> {
    await Promise.allSettled(this.#running);
  }
}

/**
 * Opens consecutive whole chunks; the last may be shorter.
 *
 * @param firstIndex index of the first chunk in the content
 * @param isLast whether the content ends with these chunks
 * @param target receives the plaintext, which is 16 bytes shorter for each chunk
 * @returns the filled beginning of `target`
 * @throws PortalError `decryption_failed`
 */
export async function openChunks(
  cipher: ChunkCipher,
  sealed: Bytes,
  firstIndex: number,
  isLast: boolean,
  target: Bytes,
): Promise<Bytes> {
  const chunkTotal = Math.ceil(sealed.length / sealedChunkSize);
  const length = sealed.length - chunkTotal * tagSize;
  // only the last chunk may be short, and only the only chunk of a content may be empty
  const lastLength = length - (chunkTotal - 1) * chunkSize;
  if (chunkTotal === 0 || lastLength < 0 || (lastLength === 0 && firstIndex + chunkTotal > 1))
    throw new PortalError("decryption_failed");
  const pool = new ChunkPool();
  const openChunk = async (index: number): Promise<void> => {
    const chunk = await cipher.open(
      sealed.subarray(index * sealedChunkSize, (index + 1) * sealedChunkSize),
      firstIndex + index,
      isLast && index === chunkTotal - 1,
    );
    if (chunk === null) throw new PortalError("decryption_failed");
    target.set(chunk, index * chunkSize);
    freeBuffers(chunk);
  };
  try {
    for (let index = 0; index < chunkTotal; index++) await pool.add(openChunk(index));
    await pool.drain();
  } catch (error) {
    await pool.settle(); // no chunk is written after the caller has wiped the target
    throw error;
  }
  return target.subarray(0, length);
}

/** Returns null if the browser lacks it (Modern Algorithms in the Web Cryptography API). */
async function createNativeCipher(key: Bytes): Promise<ChunkCipher | null> {
  const name = "ChaCha20-Poly1305";
  let cryptoKey: CryptoKey;
  try {
    cryptoKey = await crypto.subtle.importKey("raw-secret", key, name, false, ["encrypt", "decrypt"]);
  } catch {
    return null; // unsupported: libsodium is used
  }
  return {
    backend: "browser",
    seal: async (plaintext, index, isLast) =>
      new Uint8Array(await crypto.subtle.encrypt({ name, iv: createChunkNonce(index, isLast) }, cryptoKey, plaintext)),
    open: async (sealed, index, isLast) => {
      try {
        return new Uint8Array(
          await crypto.subtle.decrypt({ name, iv: createChunkNonce(index, isLast) }, cryptoKey, sealed),
        );
      } catch {
        return null; // the tag is wrong; the browser reports nothing more
      }
    },
    dispose: () => undefined,
  };
}

/** Last chunk of a content: 66 bytes, index 1. Created with typage's ChaCha20-Poly1305. */
const knownAnswer = {
  key: Uint8Array.from({ length: 32 }, (_, index) => 0x80 + index),
  plaintext: Uint8Array.from({ length: 66 }, (_, index) => index),
  sealed:
    "yGKsU/mbl6pOOeuBamZa49rLw4LGxbHTmsicLTD/ADqxuxJfbz2hoSP03qoK+PGUPMzdfb7e4UVduRQb5YMD+1G9hpAQ45puXbuqrT5OvSvU1g==",
} as const;

let nativeCipherCheck: Promise<boolean> | null = null;

/** Tests once in each worker. */
function isNativeCipherCorrect(): Promise<boolean> {
  nativeCipherCheck ??= (async () => {
    const cipher = await createNativeCipher(knownAnswer.key);
    if (cipher === null) return false;
    const expected = Uint8Array.from(atob(knownAnswer.sealed), (character) => character.charCodeAt(0));
    const opened = await cipher.open(expected, 1, true);
    return (
      equalBytes(await cipher.seal(knownAnswer.plaintext, 1, true), expected) &&
      opened !== null &&
      equalBytes(opened, knownAnswer.plaintext)
    );
  })();
  return nativeCipherCheck;
}

async function createSodiumCipher(key: Bytes): Promise<ChunkCipher> {
  const sodium = await loadSodium();
  const [keyPointer, noncePointer, inputPointer, outputPointer] = [
    sodium._malloc(32),
    sodium._malloc(12),
    sodium._malloc(sealedChunkSize),
    sodium._malloc(sealedChunkSize),
  ];
  sodium.HEAPU8.set(key, keyPointer);
  const writeInput = (bytes: Uint8Array, index: number, isLast: boolean): void => {
    sodium.HEAPU8.set(createChunkNonce(index, isLast), noncePointer);
    sodium.HEAPU8.set(bytes, inputPointer);
  };
  return {
    backend: "libsodium",
    seal: async (plaintext, index, isLast) => {
      writeInput(plaintext, index, isLast);
      sodium._crypto_aead_chacha20poly1305_ietf_encrypt(
        outputPointer,
        0,
        inputPointer,
        plaintext.length,
        0,
        0,
        0,
        0,
        0,
        noncePointer,
        keyPointer,
      );
      return sodium.HEAPU8.slice(outputPointer, outputPointer + plaintext.length + tagSize);
    },
    open: async (sealed, index, isLast) => {
      writeInput(sealed, index, isLast);
      if (
        sodium._crypto_aead_chacha20poly1305_ietf_decrypt(
          outputPointer,
          0,
          0,
          inputPointer,
          sealed.length,
          0,
          0,
          0,
          0,
          noncePointer,
          keyPointer,
        ) !== 0
      )
        return null;
      return sodium.HEAPU8.slice(outputPointer, outputPointer + sealed.length - tagSize);
    },
    dispose: () => {
      wipe(
        sodium.HEAPU8.subarray(keyPointer, keyPointer + 32),
        sodium.HEAPU8.subarray(inputPointer, inputPointer + sealedChunkSize),
        sodium.HEAPU8.subarray(outputPointer, outputPointer + sealedChunkSize),
      );
      for (const pointer of [keyPointer, noncePointer, inputPointer, outputPointer]) sodium._free(pointer);
    },
  };
}

let sodiumPromise: Promise<Sodium> | null = null;

/** Loads libsodium on first use; the script contains its WASM. Retries after a failed load. */
function loadSodium(): Promise<Sodium> {
  sodiumPromise ??= initializeSodium().catch((error: unknown) => {
    sodiumPromise = null;
    throw error;
  });
  return sodiumPromise;
}

/**
 * The ES module exports a function that creates an instance; the CommonJS module exports an
 * instance that becomes ready.
 */
async function initializeSodium(): Promise<Sodium> {
  if (typeof libsodium === "function") return libsodium();
  await libsodium.ready;
  return libsodium;
}
