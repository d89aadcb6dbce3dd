import { PortalError } from "@relicario/shared/errors";
import { Decrypter, Encrypter } from "age-encryption";

import { generateIdentity, parseHeaderLength, deriveRecipient } from "./age.ts";
import { concatBytes, copyOf, randomBytes, wipe, type Bytes } from "./bytes.ts";
import { payloadNonceSize } from "./content-sizes.ts";
import { hkdf } from "./kdf.ts";

/*
 * Large contents: the same age file as a small one makes, in pieces. typage makes and reads the
 * header; the payload (nonce, then STREAM of 64 KiB pieces under ChaCha20-Poly1305) is sealed and
 * opened elsewhere, faster and in parallel.
 */

/** A content that is sealed in pieces: everything but its bytes. */
export interface ContentSeal {
  /** The fresh identity that opens this version and nothing else. Secret. */
  readonly identity: string;
  /** 32 bytes for the pieces. Secret. */
  readonly payloadKey: Bytes;
  /** Header and payload nonce: the first bytes of the age file. */
  readonly prefix: Bytes;
}

/**
 * A header to a fresh content identity, and a payload nonce of 16 fresh bytes: never the one of
 * typage's own empty payload.
 */
export async function createContentSeal(): Promise<ContentSeal> {
  const identity = generateIdentity();
  const capturedFileKeys: Bytes[] = [];
  const encrypter = new Encrypter();
  encrypter.addRecipient(await deriveRecipient(identity));
  encrypter.addRecipient({
    wrapFileKey: (key) => {
      capturedFileKeys.push(copyOf(key));
      return []; // no stanza: it only learns the file key
    },
  });
  const emptyAgeFile = await encrypter.encrypt(new Uint8Array());
  const [fileKey] = capturedFileKeys;
  const headerLength = parseHeaderLength(emptyAgeFile, "one");
  if (fileKey === undefined || headerLength === null) throw new TypeError("typage made another header");
  const nonce = randomBytes(payloadNonceSize);
  const payloadKey = hkdf(fileKey, "payload", nonce);
  wipe(fileKey);
  return { identity, payloadKey, prefix: concatBytes(emptyAgeFile.subarray(0, headerLength), nonce) };
}

/**
 * Key and place of the payload, from the first {@link contentHeadSize} of a sealed content (or all
 * of a shorter one).
 *
 * @throws PortalError `decryption_failed`.
 */
export async function openContentHead(
  identity: string,
  head: Bytes,
): Promise<{ readonly payloadKey: Bytes; readonly prefixLength: number }> {
  const headerLength = parseHeaderLength(head, "one");
  if (headerLength === null || head.length < headerLength + payloadNonceSize)
    throw new PortalError("decryption_failed");
  const decrypter = new Decrypter();
  decrypter.addIdentity(identity);
  let fileKey: Uint8Array;
  try {
    fileKey = await decrypter.decryptHeader(head.subarray(0, headerLength));
  } catch {
    throw new PortalError("decryption_failed");
  }
  const payloadKey = hkdf(fileKey, "payload", head.subarray(headerLength, headerLength + payloadNonceSize));
  wipe(fileKey);
  return { payloadKey, prefixLength: headerLength + payloadNonceSize };
}

/**
 * The plaintext of a whole sealed content, by typage alone: for whoever has no workers for the
 * pieces. The stream fails at a piece that was changed, or when the last one is missing.
 *
 * @param head the first {@link contentHeadSize} of it, or all of a shorter one
 * @throws PortalError `decryption_failed`.
 */
export async function openContentStream(
  identity: string,
  head: Uint8Array,
  sealed: ReadableStream<Uint8Array>,
): Promise<ReadableStream<Uint8Array>> {
  if (parseHeaderLength(head, "one") === null) throw new PortalError("decryption_failed");
  const decrypter = new Decrypter();
  decrypter.addIdentity(identity);
  try {
    return await decrypter.decrypt(sealed);
  } catch {
    throw new PortalError("decryption_failed");
  }
}

/**
 * Nonce of a piece: 11 bytes of its number, big-endian, and 1 behind them for the last one (age's
 * STREAM).
 */
export function createPieceNonce(index: number, isLast: boolean): Bytes {
  const nonce = new Uint8Array(12);
  const view = new DataView(nonce.buffer);
  view.setUint32(3, Math.floor(index / 2 ** 32));
  view.setUint32(7, index % 2 ** 32);
  nonce[11] = isLast ? 1 : 0;
  return nonce;
}
