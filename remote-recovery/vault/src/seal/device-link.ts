import { entropyToMnemonic } from "@scure/bip39";
import { wordlist } from "@scure/bip39/wordlists/english.js";
import {
  base64urlBytes,
  PositiveInt,
  Digest,
  fromBase64url,
  Id,
  maxFileNameLength,
  Recipient,
  toBase64url,
} from "@relicario/shared/api";
import { PortalError } from "@relicario/shared/errors";
import { z } from "zod";

import { isRecipient } from "./age.ts";
import { randomBytes, type Bytes } from "./bytes.ts";
import { importAesKey, jweTypes, openJwe, sealJwe } from "./document.ts";
import { hkdf } from "./kdf.ts";
import { nonEmptyText } from "./text.ts";
import { parseMnemonic } from "./mnemonic.ts";

const wordCount = 12;

/**
 * What a new device asks for: its opener, with everything that a slot is made of. None of it opens
 * anything.
 */
export const LinkRequest = z.strictObject({
  v: z.literal(1),
  user_id: Id,
  opener: z.strictObject({
    id: Id,
    kind: z.literal("passkey"),
    name: nonEmptyText(maxFileNameLength),
    recipient: Recipient,
    /** HKDF(opener seed, `relicario/v1/slot-auth`). */
    slot_auth: base64urlBytes(32, { exact: true }),
  }),
});
export type LinkRequest = z.infer<typeof LinkRequest>;

/** What the device at hand answers: the newest state that it has verified. */
export const LinkAnswer = z.strictObject({
  v: z.literal(1),
  user_id: Id,
  state_rev: PositiveInt,
  state_sha256: Digest,
});
export type LinkAnswer = z.infer<typeof LinkAnswer>;

/**
 * A new code: 128 random bits. Whoever has it can read and write its mailbox, once signed in to the
 * account.
 */
export function generateDeviceCode(): Bytes {
  return randomBytes(16);
}

/** 12 words of the English BIP-39 list. */
export function encodeDeviceCode(code: Bytes): string[] {
  return entropyToMnemonic(code, wordlist).split(" ");
}

/**
 * A code as it was typed or scanned. @throws PortalError `device_code_unreadable`, as {@link
 * parseMnemonic} says.
 */
export function parseDeviceCode(input: string): Bytes {
  return parseMnemonic(input, wordCount, "device_code_unreadable");
}

/** Of the code's mailbox: 16 bytes, base64url. Tells nothing of the code. */
export function deriveDeviceLinkId(code: Bytes): string {
  return toBase64url(hkdf(code, "relicario/v1/link-device-id").subarray(0, 16));
}

export async function sealLinkRequest(code: Bytes, request: LinkRequest): Promise<string> {
  return sealJwe(await deriveDocumentKey(code), createJweHeader(code, request.user_id), request);
}

/**
 * @throws PortalError `decryption_failed` for another code, account or document, and for a
 *   recipient that is no hybrid one.
 */
export async function openLinkRequest(code: Bytes, userId: string, jwe: string): Promise<LinkRequest> {
  const request = await openJwe(await deriveDocumentKey(code), createJweHeader(code, userId), jwe, LinkRequest);
  if (request.user_id !== userId || !isRecipient(request.opener.recipient)) throw new PortalError("decryption_failed");
  return request;
}

export async function sealLinkAnswer(code: Bytes, answer: LinkAnswer): Promise<string> {
  return sealJwe(await deriveDocumentKey(code), createJweHeader(code, answer.user_id), answer);
}

/** @throws PortalError `decryption_failed`. */
export async function openLinkAnswer(code: Bytes, userId: string, jwe: string): Promise<LinkAnswer> {
  const answer = await openJwe(await deriveDocumentKey(code), createJweHeader(code, userId), jwe, LinkAnswer);
  if (answer.user_id !== userId) throw new PortalError("decryption_failed");
  return answer;
}

/** The same of both documents: which of them it is, their members say. */
function deriveDocumentKey(code: Bytes): Promise<CryptoKey> {
  return importAesKey(hkdf(code, "relicario/v1/link-device"));
}

function createJweHeader(code: Bytes, userId: string) {
  return { typ: jweTypes.linkDevice, user_id: userId, id: deriveDeviceLinkId(code) };
}

/** The opener of a request, as a slot is made for it. */
export function toSlotTarget({ opener: { id, recipient, slot_auth: slotAuth } }: LinkRequest) {
  return { openerId: id, recipient, slotAuth: fromBase64url(slotAuth) };
}
