import { PortalError } from "@relicario/shared/errors";
import libsodium, { type Sodium } from "libsodium";

import { equalBytes, release, wipe, type Bytes } from "../seal/bytes.ts";
import { pieceBytes, sealedPieceBytes, tagBytes } from "../seal/content-pieces.ts";
import { pieceNonce } from "../seal/content-stream.ts";

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
  readonly by: "browser" | "libsodium";
  /**
   * One piece of at most 64 KiB. It is taken before this returns, so its buffer may be used again
   * at once.
   *
   * @param index number of the piece
   * @param last whether the content ends with it
   */
  readonly seal: (plain: Bytes, index: number, last: boolean) => Promise<Bytes>;
  /** The other way; null when it does not open. */
  readonly open: (sealed: Bytes, index: number, last: boolean) => Promise<Bytes | null>;
  /** Puts the key away. */
  readonly end: () => void;
}

/**
 * Pieces at work at the same time: one on each of the browser's threads, and the next ones waiting
 * there.
 */
const atOnce = 4;

/**
 * The browser's own ChaCha20-Poly1305 where it has one, and gets a known answer right; else
 * libsodium's.
 *
 * @param key 32 bytes, the caller's to wipe.
 */
export async function pieceCipher(key: Bytes, wanted?: PieceCipher["by"]): Promise<PieceCipher> {
  const native = wanted === "libsodium" || !(await nativeIsRight()) ? null : await nativePieces(key);
  if (native === null && wanted === "browser") throw new PortalError("vault_unavailable");
  return native ?? (await sodiumPieces(key));
}

/** Work on pieces as they come, so much of it at the same time. */
export class PiecesUnderWay {
  readonly #underWay = new Set<Promise<void>>();

  /** Waits for a free place. The first failure is thrown here or by {@link done}. */
  async add(work: Promise<void>): Promise<void> {
    const counted = work.then(() => void this.#underWay.delete(counted));
    counted.catch(() => undefined); // thrown below
    this.#underWay.add(counted);
    if (this.#underWay.size >= atOnce) await Promise.race(this.#underWay);
  }

  async done(): Promise<void> {
    await Promise.all(this.#underWay);
  }

  /** Waits for all of it, whatever comes of it. */
  async settled(): Promise<void> {
    await Promise.allSettled(this.#underWay);
  }
}

/**
 * Opens whole pieces one after another, the last of them perhaps shorter.
 *
 * @param first number of the first piece
 * @param last whether the content ends with the last of them
 * @param into where they go, 16 bytes shorter each; what is returned is its beginning
 * @throws PortalError `decryption_failed`.
 */
export async function openPieces(
  cipher: PieceCipher,
  sealed: Bytes,
  first: number,
  last: boolean,
  into: Bytes,
): Promise<Bytes> {
  const count = Math.ceil(sealed.length / sealedPieceBytes);
  const length = sealed.length - count * tagBytes;
  // Every piece but the last is full, and an empty one is allowed only where it is the whole
  // content.
  const lastLength = length - (count - 1) * pieceBytes;
  if (count === 0 || lastLength < 0 || (lastLength === 0 && first + count > 1))
    throw new PortalError("decryption_failed");
  const pieces = new PiecesUnderWay();
  const one = async (index: number): Promise<void> => {
    const piece = await cipher.open(
      sealed.subarray(index * sealedPieceBytes, (index + 1) * sealedPieceBytes),
      first + index,
      last && index === count - 1,
    );
    if (piece === null) throw new PortalError("decryption_failed");
    into.set(piece, index * pieceBytes);
    release(piece);
  };
  try {
    for (let index = 0; index < count; index++) await pieces.add(one(index));
    await pieces.done();
  } catch (error) {
    await pieces.settled(); // nothing writes there any more when the caller wipes it
    throw error;
  }
  return into.subarray(0, length);
}

/**
 * "ChaCha20-Poly1305" of the Modern Algorithms in the Web Cryptography API; null where the browser
 * has none.
 */
async function nativePieces(key: Bytes): Promise<PieceCipher | null> {
  const name = "ChaCha20-Poly1305";
  let imported: CryptoKey;
  try {
    imported = await crypto.subtle.importKey("raw-secret", key, name, false, ["encrypt", "decrypt"]);
  } catch {
    return null; // not in this browser: libsodium does it
  }
  return {
    by: "browser",
    seal: async (plain, index, last) =>
      new Uint8Array(await crypto.subtle.encrypt({ name, iv: pieceNonce(index, last) }, imported, plain)),
    open: async (sealed, index, last) => {
      try {
        return new Uint8Array(await crypto.subtle.decrypt({ name, iv: pieceNonce(index, last) }, imported, sealed));
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
  plain: Uint8Array.from({ length: 66 }, (_, index) => index),
  sealed:
    "yGKsU/mbl6pOOeuBamZa49rLw4LGxbHTmsicLTD/ADqxuxJfbz2hoSP03qoK+PGUPMzdfb7e4UVduRQb5YMD+1G9hpAQ45puXbuqrT5OvSvU1g==",
} as const;

let native: Promise<boolean> | null = null;

/** Asked once in each worker. */
function nativeIsRight(): Promise<boolean> {
  native ??= (async () => {
    const cipher = await nativePieces(known.key);
    if (cipher === null) return false;
    const expected = Uint8Array.from(atob(known.sealed), (character) => character.charCodeAt(0));
    const opened = await cipher.open(expected, 1, true);
    return (
      equalBytes(await cipher.seal(known.plain, 1, true), expected) &&
      opened !== null &&
      equalBytes(opened, known.plain)
    );
  })();
  return native;
}

async function sodiumPieces(key: Bytes): Promise<PieceCipher> {
  const sodium = await loadSodium();
  const [keyAt, nonceAt, inAt, outAt] = [
    sodium._malloc(32),
    sodium._malloc(12),
    sodium._malloc(sealedPieceBytes),
    sodium._malloc(sealedPieceBytes),
  ];
  sodium.HEAPU8.set(key, keyAt);
  const put = (bytes: Uint8Array, index: number, last: boolean): void => {
    sodium.HEAPU8.set(pieceNonce(index, last), nonceAt);
    sodium.HEAPU8.set(bytes, inAt);
  };
  return {
    by: "libsodium",
    seal: async (plain, index, last) => {
      put(plain, index, last);
      sodium._crypto_aead_chacha20poly1305_ietf_encrypt(outAt, 0, inAt, plain.length, 0, 0, 0, 0, 0, nonceAt, keyAt);
      return sodium.HEAPU8.slice(outAt, outAt + plain.length + tagBytes);
    },
    open: async (sealed, index, last) => {
      put(sealed, index, last);
      if (
        sodium._crypto_aead_chacha20poly1305_ietf_decrypt(
          outAt,
          0,
          0,
          inAt,
          sealed.length,
          0,
          0,
          0,
          0,
          nonceAt,
          keyAt,
        ) !== 0
      )
        return null;
      return sodium.HEAPU8.slice(outAt, outAt + sealed.length - tagBytes);
    },
    end: () => {
      wipe(
        sodium.HEAPU8.subarray(keyAt, keyAt + 32),
        sodium.HEAPU8.subarray(inAt, inAt + sealedPieceBytes),
        sodium.HEAPU8.subarray(outAt, outAt + sealedPieceBytes),
      );
      for (const at of [keyAt, nonceAt, inAt, outAt]) sodium._free(at);
    },
  };
}

let loading: Promise<Sodium> | null = null;

/** Loaded at first need; its WASM is inside the script. A failed load is forgotten. */
function loadSodium(): Promise<Sodium> {
  loading ??= start().catch((error: unknown) => {
    loading = null;
    throw error;
  });
  return loading;
}

/**
 * As an ES module it is a function that makes an instance; where it was `require`d, an instance
 * that becomes ready.
 */
async function start(): Promise<Sodium> {
  if (typeof libsodium === "function") return libsodium();
  await libsodium.ready;
  return libsodium;
}
