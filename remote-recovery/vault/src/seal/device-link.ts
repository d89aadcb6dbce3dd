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
 * A new device's request: its opener, with everything that is needed to seal a slot for it. Nothing
 * in it opens anything.
 */
export const LinkRequest = z.strictObject({
  v: z.literal(1),
  user_id: Id,
  opener: z.strictObject({
    id: Id,
    kind: z.literal("passkey"),
    name: nonEmptyText(maxFileNameLength),
    recipient: Recipient,
    /** HKDF(opener seed, `relicario/v1/slot-auth`) */
    slot_auth: base64urlBytes(32, { exact: true }),
  }),
});
export type LinkRequest = z.infer<typeof LinkRequest>;

/** The unlocked device's answer: the newest state that it has verified. */
export const LinkAnswer = z.strictObject({
  v: z.literal(1),
  user_id: Id,
  state_rev: PositiveInt,
  state_sha256: Digest,
});
export type LinkAnswer = z.infer<typeof LinkAnswer>;

/**
 * Generates a code of 128 random bits. Anyone who has the code and is signed in to the account can
 * read and write its mailbox.
 */
export function generateDeviceCode(): Bytes {
  return randomBytes(16);
}

/** Encodes a code as 12 words of the English BIP-39 list. */
export function encodeDeviceCode(code: Bytes): string[] {
  return entropyToMnemonic(code, wordlist).split(" ");
}

/**
 * Parses a code that was typed or scanned.
 *
 * @throws PortalError `device_code_unreadable`, with the details of {@link parseMnemonic}
 */
export function parseDeviceCode(input: string): Bytes {
  return parseMnemonic(input, wordCount, "device_code_unreadable");
}

/**
 * Derives the id of the code's mailbox: 16 bytes, base64url. The id reveals nothing about the code.
 */
export function deriveDeviceLinkId(code: Bytes): string {
  return toBase64url(hkdf(code, "relicario/v1/link-device-id").subarray(0, 16));
}

export async function sealLinkRequest(code: Bytes, request: LinkRequest): Promise<string> {
  return sealJwe(await deriveDocumentKey(code), createJweHeader(code, request.user_id), request);
}

/**
 * @throws PortalError `decryption_failed` if the code, account or document differs, or if the
 *   recipient is not a hybrid one
 */
export async function openLinkRequest(code: Bytes, userId: string, jwe: string): Promise<LinkRequest> {
  const request = await openJwe(await deriveDocumentKey(code), createJweHeader(code, userId), jwe, LinkRequest);
  if (request.user_id !== userId || !isRecipient(request.opener.recipient)) throw new PortalError("decryption_failed");
  return request;
}

export async function sealLinkAnswer(code: Bytes, answer: LinkAnswer): Promise<string> {
  return sealJwe(await deriveDocumentKey(code), createJweHeader(code, answer.user_id), answer);
}

/** @throws PortalError `decryption_failed` */
export async function openLinkAnswer(code: Bytes, userId: string, jwe: string): Promise<LinkAnswer> {
  const answer = await openJwe(await deriveDocumentKey(code), createJweHeader(code, userId), jwe, LinkAnswer);
  if (answer.user_id !== userId) throw new PortalError("decryption_failed");
  return answer;
}

/** Both documents use one key; their members distinguish them. */
function deriveDocumentKey(code: Bytes): Promise<CryptoKey> {
  return importAesKey(hkdf(code, "relicario/v1/link-device"));
}

function createJweHeader(code: Bytes, userId: string) {
  return { typ: jweTypes.linkDevice, user_id: userId, id: deriveDeviceLinkId(code) };
}

export function toSlotTarget({ opener: { id, recipient, slot_auth: slotAuth } }: LinkRequest) {
  return { openerId: id, recipient, slotAuth: fromBase64url(slotAuth) };
}
