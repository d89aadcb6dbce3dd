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
 * What opens an answer to a request. Nothing in it is vouched for but that whoever sealed it had
 * the link. Holds a content identity: a secret.
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
  /** Under a key of the link: the service cannot answer by itself. */
  mac: Digest,
});
export type ProvidedTicket = z.infer<typeof ProvidedTicket>;

/** Seals a ticket to the recipient of the request's key statement, and to nobody else. */
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
 * Opens an answer with one of the account's identities (the present one, or one from before a
 * rotation). Its mac and the request that it is for are checked before anything of it is given out.
 *
 * @throws PortalError `decryption_failed`.
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

/** HMAC-SHA-256 over the JCS without `mac`. */
export function computeProvidedMac(linkKey: Bytes, body: Readonly<Record<string, Json>>): Promise<Uint8Array> {
  return withWipedBytes(hkdf(linkKey, "relicario/v1/provided"), (key) => hmac(nobleSha256, key, encodeCanonical(body)));
}

/**
 * Eight words of an answer, the same for whoever sent it and whoever got it: a receipt.
 * `ticketSha256`: digest of the sealed ticket.
 */
export function deriveReceiptWords(ticketSha256: Bytes): readonly string[] {
  return encodeDigestAsWords(sha256(utf8("relicario/v1/receipt"), ticketSha256));
}
