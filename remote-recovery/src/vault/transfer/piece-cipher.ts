import { PortalError } from "@relicario/shared/errors";

import { equalBytes, release, wipe, type Bytes } from "../seal/bytes.ts";
import { pieceBytes, pieceCount, sealedPieceBytes, tagBytes } from "../seal/content-pieces.ts";
import { pieceNonce } from "../seal/content-stream.ts";
import { loadSodium } from "./sodium.ts";

declare global {
  interface SubtleCrypto {
    /** Newer than TypeScript's own list of formats (Modern Algorithms in the Web Cryptography API). */
    importKey(format: "raw-secret", keyData: BufferSource, algorithm: string, extractable: boolean, keyUsages: readonly KeyUsage[]): Promise<CryptoKey>;
  }
}

/** Seals and opens pieces of one content. Measured candidates: docs/decisions/0046. */
export interface PieceCipher {
  readonly by: "browser" | "libsodium";
  /**
   * Whole pieces one after another, the last of them perhaps shorter.
   *
   * @param first number of the first piece
   * @param last whether the content ends with the last of them
   * @param into where they go: a tag for each piece longer than `plain`
   */
  readonly seal: (plain: Bytes, first: number, last: boolean, into: Bytes) => Promise<void>;
  /** The other way. `decryption_failed`. */
  readonly open: (sealed: Bytes, first: number, last: boolean) => Promise<Bytes>;
  /** Puts the key away. */
  readonly end: () => void;
}

/** One piece of at most 64 KiB. */
interface OnePiece {
  readonly by: PieceCipher["by"];
  readonly seal: (plain: Bytes, nonce: Bytes) => Promise<Bytes>;
  /** Null when it does not open. */
  readonly open: (sealed: Bytes, nonce: Bytes) => Promise<Bytes | null>;
  readonly end: () => void;
}

/** Pieces at work at the same time: enough for the browser's own threads, little enough for the memory. */
const atOnce = 8;

/**
 * The browser's own ChaCha20-Poly1305 where it has one, and gets a known answer right; else libsodium's.
 *
 * @param key 32 bytes, the caller's to wipe.
 */
export async function pieceCipher(key: Bytes, wanted?: PieceCipher["by"]): Promise<PieceCipher> {
  const native = wanted === "libsodium" || !(await nativeIsRight()) ? null : await nativePiece(key);
  if (native === null && wanted === "browser") throw new PortalError("vault_unavailable");
  const one = native ?? (await sodiumPiece(key));
  return {
    by: one.by,
    seal: async (plain, first, last, into) => {
      const count = pieceCount(plain.length);
      await inTurns(count, atOnce, async (index) => {
        const nonce = pieceNonce(first + index, last && index === count - 1);
        const piece = await one.seal(plain.subarray(index * pieceBytes, (index + 1) * pieceBytes), nonce);
        into.set(piece, index * sealedPieceBytes);
        release(piece);
      });
    },
    open: async (sealed, first, last) => {
      const count = Math.ceil(sealed.length / sealedPieceBytes);
      const length = sealed.length - count * tagBytes;
      // Every piece but the last is full, and an empty one is allowed only where it is the whole content.
      const lastLength = length - (count - 1) * pieceBytes;
      if (count === 0 || lastLength < 0 || (lastLength === 0 && first + count > 1)) throw new PortalError("decryption_failed");
      const plain = new Uint8Array(length);
      await inTurns(count, atOnce, async (index) => {
        const nonce = pieceNonce(first + index, last && index === count - 1);
        const piece = await one.open(sealed.subarray(index * sealedPieceBytes, (index + 1) * sealedPieceBytes), nonce);
        if (piece === null) throw new PortalError("decryption_failed");
        plain.set(piece, index * pieceBytes);
        release(piece);
      });
      return plain;
    },
    end: one.end,
  };
}

/** Works on each of `count`, so many of them at the same time. */
export async function inTurns(count: number, atOnce: number, work: (index: number) => Promise<void>): Promise<void> {
  let next = 0;
  const turns = Array.from({ length: Math.min(atOnce, count) }, async () => {
    while (next < count) await work(next++);
  });
  await Promise.all(turns);
}

/** "ChaCha20-Poly1305" of the Modern Algorithms in the Web Cryptography API; null where the browser has none. */
async function nativePiece(key: Bytes): Promise<OnePiece | null> {
  const name = "ChaCha20-Poly1305";
  let imported: CryptoKey;
  try {
    imported = await crypto.subtle.importKey("raw-secret", key, name, false, ["encrypt", "decrypt"]);
  } catch {
    return null; // not in this browser: libsodium does it
  }
  return {
    by: "browser",
    seal: async (plain, iv) => new Uint8Array(await crypto.subtle.encrypt({ name, iv }, imported, plain)),
    open: async (sealed, iv) => {
      try {
        return new Uint8Array(await crypto.subtle.decrypt({ name, iv }, imported, sealed));
      } catch {
        return null; // the tag does not fit; the browser says no more
      }
    },
    end: () => undefined,
  };
}

/** A piece of 66 bytes, the last one, numbered 1. Made with typage's ChaCha20-Poly1305. */
const known = {
  key: Uint8Array.from({ length: 32 }, (_, index) => 0x80 + index),
  nonce: pieceNonce(1, true),
  plain: Uint8Array.from({ length: 66 }, (_, index) => index),
  sealed: "yGKsU/mbl6pOOeuBamZa49rLw4LGxbHTmsicLTD/ADqxuxJfbz2hoSP03qoK+PGUPMzdfb7e4UVduRQb5YMD+1G9hpAQ45puXbuqrT5OvSvU1g==",
} as const;

let native: Promise<boolean> | null = null;

/** Asked once in each worker. */
function nativeIsRight(): Promise<boolean> {
  native ??= (async () => {
    const piece = await nativePiece(known.key);
    if (piece === null) return false;
    const expected = Uint8Array.from(atob(known.sealed), (character) => character.charCodeAt(0));
    const opened = await piece.open(expected, known.nonce);
    return equalBytes(await piece.seal(known.plain, known.nonce), expected) && opened !== null && equalBytes(opened, known.plain);
  })();
  return native;
}

async function sodiumPiece(key: Bytes): Promise<OnePiece> {
  const sodium = await loadSodium();
  const [keyAt, nonceAt, inAt, outAt] = [sodium._malloc(32), sodium._malloc(12), sodium._malloc(sealedPieceBytes), sodium._malloc(sealedPieceBytes)];
  sodium.HEAPU8.set(key, keyAt);
  const put = (bytes: Uint8Array, nonce: Uint8Array): void => {
    sodium.HEAPU8.set(nonce, nonceAt);
    sodium.HEAPU8.set(bytes, inAt);
  };
  return {
    by: "libsodium",
    seal: async (plain, nonce) => {
      put(plain, nonce);
      sodium._crypto_aead_chacha20poly1305_ietf_encrypt(outAt, 0, inAt, plain.length, 0, 0, 0, 0, 0, nonceAt, keyAt);
      return sodium.HEAPU8.slice(outAt, outAt + plain.length + tagBytes);
    },
    open: async (sealed, nonce) => {
      put(sealed, nonce);
      if (sodium._crypto_aead_chacha20poly1305_ietf_decrypt(outAt, 0, 0, inAt, sealed.length, 0, 0, 0, 0, nonceAt, keyAt) !== 0) return null;
      return sodium.HEAPU8.slice(outAt, outAt + sealed.length - tagBytes);
    },
    end: () => {
      wipe(sodium.HEAPU8.subarray(keyAt, keyAt + 32), sodium.HEAPU8.subarray(inAt, inAt + sealedPieceBytes), sodium.HEAPU8.subarray(outAt, outAt + sealedPieceBytes));
      for (const at of [keyAt, nonceAt, inAt, outAt]) sodium._free(at);
    },
  };
}
