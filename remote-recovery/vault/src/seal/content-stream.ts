import { PortalError } from "@relicario/shared/errors";
import { Decrypter, Encrypter } from "age-encryption";

import { generateIdentity, parseHeaderLength, deriveRecipient } from "./age.ts";
import { concatBytes, copyOf, randomBytes, wipe, type Bytes } from "./bytes.ts";
import { payloadNonceSize } from "./content-sizes.ts";
import { hkdf } from "./kdf.ts";

/*
 * Seals and opens large contents in chunks, in the same age format as small ones. typage handles
 * the header. Other modules handle the payload (a nonce, then STREAM of 64 KiB chunks under
 * ChaCha20-Poly1305), which is faster and runs in parallel.
 */

/** Keys and first bytes of a content that is sealed in chunks. */
export interface ContentSeal {
  /** New identity that opens only this version. Secret. */
  readonly identity: string;
  /** The 32-byte key of the chunks. Secret. */
  readonly payloadKey: Bytes;
  /** Header and payload nonce: the first bytes of the age file. */
  readonly prefix: Bytes;
}

/**
 * Creates a header for a new content identity, and a new 16-byte payload nonce, which is never the
 * one that typage used for its empty payload.
 */
export async function createContentSeal(): Promise<ContentSeal> {
  const identity = generateIdentity();
  const capturedFileKeys: Bytes[] = [];
  const encrypter = new Encrypter();
  encrypter.addRecipient(await deriveRecipient(identity));
  encrypter.addRecipient({
    wrapFileKey: (key) => {
      capturedFileKeys.push(copyOf(key));
      return []; // captures the file key without adding a stanza
    },
  });
  const emptyAgeFile = await encrypter.encrypt(new Uint8Array());
  const [fileKey] = capturedFileKeys;
  const headerLength = parseHeaderLength(emptyAgeFile, "one");
  if (fileKey === undefined || headerLength === null) throw new TypeError("unexpected age header from typage");
  const nonce = randomBytes(payloadNonceSize);
  const payloadKey = hkdf(fileKey, "payload", nonce);
  wipe(fileKey);
  return { identity, payloadKey, prefix: concatBytes(emptyAgeFile.subarray(0, headerLength), nonce) };
}

/**
 * Returns the payload key and the offset of the payload.
 *
 * @param head the first {@link contentHeadSize} bytes of a sealed content, or all of a shorter one
 * @throws PortalError `decryption_failed`
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
 * Opens a whole sealed content with typage alone, for places without workers for the chunks. The
 * stream fails if a chunk was changed or the last one is missing.
 *
 * @param head the first {@link contentHeadSize} bytes of the content, or all of a shorter one
 * @throws PortalError `decryption_failed`
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
 * Creates the nonce of a chunk: its index as 11 bytes in big-endian order, then 1 for the last
 * chunk or 0 for others (STREAM in age).
 */
export function createChunkNonce(index: number, isLast: boolean): Bytes {
  const nonce = new Uint8Array(12);
  const view = new DataView(nonce.buffer);
  view.setUint32(3, Math.floor(index / 2 ** 32));
  view.setUint32(7, index % 2 ** 32);
  nonce[11] = isLast ? 1 : 0;
  return nonce;
}
