import { hmac } from "@noble/hashes/hmac.js";
import { sha256 as nobleSha256 } from "@noble/hashes/sha2.js";
import {
  encodeCanonical,
  Digest,
  fromBase64url,
  maxFileNameLength,
  maxRequestNoteLength,
  RequestId,
  Timestamp,
  toBase64url,
  type Json,
} from "@relicario/shared/api";
import { PortalError } from "@relicario/shared/errors";
import { z } from "zod";

import { openWith, sealTo } from "./age.ts";
import { equalBytes, sha256, utf8, withWipedBytes, wipe, type Bytes } from "./bytes.ts";
import { contentFields } from "./content-fields.ts";
import { serializeDocument, parseDocument } from "./document.ts";
import { hkdf } from "./kdf.ts";
import { boundedText } from "./text.ts";
import { encodeDigestAsWords } from "./mnemonic.ts";

/**
 * Opens an answer to a request. Proves only that the sender had the link. Contains the content
 * identity, which is secret.
 */
export const ProvidedTicket = z.strictObject({
  v: z.literal(1),
  kind: z.literal("provided"),
  request_id: RequestId,
  name: boundedText(maxFileNameLength),
  mime: boundedText(maxFileNameLength),
  ...contentFields,
  note: boundedText(maxRequestNoteLength),
  created_at: Timestamp,
  /** Computed with a key of the link, so that the service cannot forge an answer. */
  mac: Digest,
});
export type ProvidedTicket = z.infer<typeof ProvidedTicket>;

/** Seals a ticket only to the recipient in the request's key statement. */
export async function sealProvidedTicket(
  linkKey: Bytes,
  recipient: string,
  ticket: Omit<ProvidedTicket, "mac">,
): Promise<Bytes> {
  const plain = serializeDocument({ ...ticket, mac: toBase64url(await computeProvidedMac(linkKey, ticket)) });
  try {
    return await sealTo([recipient], plain);
  } finally {
    wipe(plain);
  }
}

/**
 * Opens an answer with one of the account's identities: the current one, or one from before a
 * rotation. Checks MAC and request before returning anything.
 *
 * @throws PortalError `decryption_failed`
 */
export async function openProvidedTicket(
  identities: readonly string[],
  linkKey: Bytes,
  requestId: string,
  sealed: Bytes,
): Promise<ProvidedTicket> {
  const plain = await openWithAny(identities, sealed);
  if (plain === null) throw new PortalError("decryption_failed");
  try {
    const ticket = parseDocument(ProvidedTicket, plain);
    const { mac, ...body } = ticket;
    if (!equalBytes(fromBase64url(mac), await computeProvidedMac(linkKey, body)) || body.request_id !== requestId)
      throw new PortalError("decryption_failed");
    return ticket;
  } finally {
    wipe(plain);
  }
}

async function openWithAny(identities: readonly string[], sealed: Bytes): Promise<Bytes | null> {
  for (const identity of identities) {
    const plain = await openWith(identity, sealed, "one");
    if (plain !== null) return plain;
  }
  return null;
}

/** Computes HMAC-SHA-256 over the JCS without `mac`. */
export function computeProvidedMac(linkKey: Bytes, body: Readonly<Record<string, Json>>): Promise<Uint8Array> {
  return withWipedBytes(hkdf(linkKey, "relicario/v1/provided"), (key) => hmac(nobleSha256, key, encodeCanonical(body)));
}

/**
 * Derives eight words as the receipt of an answer, the same for sender and recipient.
 *
 * @param ticketSha256 digest of the sealed ticket
 */
export function deriveReceiptWords(ticketSha256: Bytes): readonly string[] {
  return encodeDigestAsWords(sha256(utf8("relicario/v1/receipt"), ticketSha256));
}
