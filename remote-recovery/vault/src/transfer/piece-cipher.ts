import { PortalError } from "@relicario/shared/errors";
import libsodium, { type Sodium } from "libsodium";

import { equalBytes, freeBuffers, wipe, type Bytes } from "../seal/bytes.ts";
import { pieceSize, sealedPieceSize, tagSize } from "../seal/content-sizes.ts";
import { createPieceNonce } from "../seal/content-stream.ts";

declare global {
  interface SubtleCrypto {
    /**
     * Newer than TypeScript's own list of formats (Modern Algorithms in the Web Cryptography API).
     */
    importKey(
      format: "raw-secret",
      keyData: BufferSource,
      algorithm: string,
      extractable: boolean,
      keyUsages: readonly KeyUsage[],
    ): Promise<CryptoKey>;
  }
}

/** Seals and opens the pieces of one content. Measured candidates: docs/decisions/0046. */
export interface PieceCipher {
  readonly backend: "browser" | "libsodium";
  /**
   * One piece of at most 64 KiB. It is taken before this returns, so its buffer may be used again
   * at once.
   *
   * @param index number of the piece
   * @param isLast whether the content ends with it
   */
  readonly seal: (plain: Bytes, index: number, isLast: boolean) => Promise<Bytes>;
  /** The other way; null when it does not open. */
  readonly open: (sealed: Bytes, index: number, isLast: boolean) => Promise<Bytes | null>;
  /** Puts the key away. */
  readonly dispose: () => void;
}

/**
 * Pieces at work at the same time: one on each of the browser's threads, and the next ones waiting
 * there.
 */
const maxConcurrentPieces = 4;

/**
 * The browser's own ChaCha20-Poly1305 where it has one, and gets a known answer right; else
 * libsodium's.
 *
 * @param key 32 bytes, the caller's to wipe.
 */
export async function createPieceCipher(key: Bytes, backend?: PieceCipher["backend"]): Promise<PieceCipher> {
  const nativeCipher =
    backend === "libsodium" || !(await isNativeCipherCorrect()) ? null : await createNativeCipher(key);
  if (nativeCipher === null && backend === "browser") throw new PortalError("vault_unavailable");
  return nativeCipher ?? (await createSodiumCipher(key));
}

/** Work on pieces as they come, so much of it at the same time. */
export class PiecePool {
  readonly #running = new Set<Promise<void>>();

  /** Waits for a free place. The first failure is thrown here or by {@link drain}. */
  async add(task: Promise<void>): Promise<void> {
    const tracked = task.then(() => void this.#running.delete(tracked));
    tracked.catch(() => undefined); // thrown below
    this.#running.add(tracked);
    if (this.#running.size >= maxConcurrentPieces) await Promise.race(this.#running);
  }

  async drain(): Promise<void> {
    await Promise.all(this.#running);
  }

  /** Waits for all of it, whatever comes of it. */
  async settle(): Promise<void> {
    await Promise.allSettled(this.#running);
  }
}

/**
 * Opens whole pieces one after another, the last of them perhaps shorter.
 *
 * @param firstIndex number of the first piece
 * @param isLast whether the content ends with the last of them
 * @param target where they go, 16 bytes shorter each; what is returned is its beginning
 * @throws PortalError `decryption_failed`.
 */
export async function openPieces(
  cipher: PieceCipher,
  sealed: Bytes,
  firstIndex: number,
  isLast: boolean,
  target: Bytes,
): Promise<Bytes> {
  const pieceTotal = Math.ceil(sealed.length / sealedPieceSize);
  const length = sealed.length - pieceTotal * tagSize;
  // Every piece but the last is full, and an empty one is allowed only where it is the whole
  // content.
  const lastLength = length - (pieceTotal - 1) * pieceSize;
  if (pieceTotal === 0 || lastLength < 0 || (lastLength === 0 && firstIndex + pieceTotal > 1))
    throw new PortalError("decryption_failed");
  const pool = new PiecePool();
  const openPiece = async (index: number): Promise<void> => {
    const piece = await cipher.open(
      sealed.subarray(index * sealedPieceSize, (index + 1) * sealedPieceSize),
      firstIndex + index,
      isLast && index === pieceTotal - 1,
    );
    if (piece === null) throw new PortalError("decryption_failed");
    target.set(piece, index * pieceSize);
    freeBuffers(piece);
  };
  try {
    for (let index = 0; index < pieceTotal; index++) await pool.add(openPiece(index));
    await pool.drain();
  } catch (error) {
    await pool.settle(); // nothing writes there any more when the caller wipes it
    throw error;
  }
  return target.subarray(0, length);
}

/**
 * "ChaCha20-Poly1305" of the Modern Algorithms in the Web Cryptography API; null where the browser
 * has none.
 */
async function createNativeCipher(key: Bytes): Promise<PieceCipher | null> {
  const name = "ChaCha20-Poly1305";
  let cryptoKey: CryptoKey;
  try {
    cryptoKey = await crypto.subtle.importKey("raw-secret", key, name, false, ["encrypt", "decrypt"]);
  } catch {
    return null; // not in this browser: libsodium does it
  }
  return {
    backend: "browser",
    seal: async (plain, index, isLast) =>
      new Uint8Array(await crypto.subtle.encrypt({ name, iv: createPieceNonce(index, isLast) }, cryptoKey, plain)),
    open: async (sealed, index, isLast) => {
      try {
        return new Uint8Array(
          await crypto.subtle.decrypt({ name, iv: createPieceNonce(index, isLast) }, cryptoKey, sealed),
        );
      } catch {
        return null; // the tag does not fit; the browser says no more
      }
    },
    dispose: () => undefined,
  };
}

/** A piece of 66 bytes, the last one, numbered 1. Made with typage's ChaCha20-Poly1305. */
const knownAnswer = {
  key: Uint8Array.from({ length: 32 }, (_, index) => 0x80 + index),
  plain: Uint8Array.from({ length: 66 }, (_, index) => index),
  sealed:
    "yGKsU/mbl6pOOeuBamZa49rLw4LGxbHTmsicLTD/ADqxuxJfbz2hoSP03qoK+PGUPMzdfb7e4UVduRQb5YMD+1G9hpAQ45puXbuqrT5OvSvU1g==",
} as const;

let nativeCipherCheck: Promise<boolean> | null = null;

/** Asked once in each worker. */
function isNativeCipherCorrect(): Promise<boolean> {
  nativeCipherCheck ??= (async () => {
    const cipher = await createNativeCipher(knownAnswer.key);
    if (cipher === null) return false;
    const expected = Uint8Array.from(atob(knownAnswer.sealed), (character) => character.charCodeAt(0));
    const opened = await cipher.open(expected, 1, true);
    return (
      equalBytes(await cipher.seal(knownAnswer.plain, 1, true), expected) &&
      opened !== null &&
      equalBytes(opened, knownAnswer.plain)
    );
  })();
  return nativeCipherCheck;
}

async function createSodiumCipher(key: Bytes): Promise<PieceCipher> {
  const sodium = await loadSodium();
  const [keyPointer, noncePointer, inputPointer, outputPointer] = [
    sodium._malloc(32),
    sodium._malloc(12),
    sodium._malloc(sealedPieceSize),
    sodium._malloc(sealedPieceSize),
  ];
  sodium.HEAPU8.set(key, keyPointer);
  const writeInput = (bytes: Uint8Array, index: number, isLast: boolean): void => {
    sodium.HEAPU8.set(createPieceNonce(index, isLast), noncePointer);
    sodium.HEAPU8.set(bytes, inputPointer);
  };
  return {
    backend: "libsodium",
    seal: async (plain, index, isLast) => {
      writeInput(plain, index, isLast);
      sodium._crypto_aead_chacha20poly1305_ietf_encrypt(
        outputPointer,
        0,
        inputPointer,
        plain.length,
        0,
        0,
        0,
        0,
        0,
        noncePointer,
        keyPointer,
      );
      return sodium.HEAPU8.slice(outputPointer, outputPointer + plain.length + tagSize);
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
        sodium.HEAPU8.subarray(inputPointer, inputPointer + sealedPieceSize),
        sodium.HEAPU8.subarray(outputPointer, outputPointer + sealedPieceSize),
      );
      for (const pointer of [keyPointer, noncePointer, inputPointer, outputPointer]) sodium._free(pointer);
    },
  };
}

let sodiumPromise: Promise<Sodium> | null = null;

/** Loaded at first need; its WASM is inside the script. A failed load is forgotten. */
function loadSodium(): Promise<Sodium> {
  sodiumPromise ??= initializeSodium().catch((error: unknown) => {
    sodiumPromise = null;
    throw error;
  });
  return sodiumPromise;
}

/**
 * As an ES module it is a function that makes an instance; where it was `require`d, an instance
 * that becomes ready.
 */
async function initializeSodium(): Promise<Sodium> {
  if (typeof libsodium === "function") return libsodium();
  await libsodium.ready;
  return libsodium;
}
