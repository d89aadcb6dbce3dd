import { bech32 } from "@scure/base";
import { PortalError } from "@relicario/shared/errors";
import { Decrypter, Encrypter, identityToRecipient } from "age-encryption";

import { copyOf, randomBytes, wipe, type Bytes } from "./bytes.ts";

/**
 * The part of age that the formats use: only native hybrid recipients (ML-KEM-768 + X25519). They
 * never use passphrases, plugins, tags or passkey recipients of age.
 */

const identityPrefix = "AGE-SECRET-KEY-PQ-";
const recipientPrefix = "age1pq";
const recipientLength = 1216;

/**
 * Number of stanzas in a file: `one` in a content, slot or share ticket, `many` (1…32) in an owner
 * ticket.
 */
export type StanzaLimit = "one" | "many";
const maxStanzaCounts = { one: 1, many: 32 } as const satisfies Record<StanzaLimit, number>;

/**
 * Encodes a 32-byte seed as an age identity. The result is secret and stays in the vault's worker.
 */
export function encodeIdentity(seed: Uint8Array): string {
  if (seed.length !== 32) throw new TypeError("expected a seed of 32 bytes");
  return bech32.encodeFromBytes(identityPrefix, seed).toUpperCase();
}

export function generateIdentity(): string {
  const seed = randomBytes(32);
  const identity = encodeIdentity(seed);
  wipe(seed);
  return identity;
}

/** Whether the text is a native hybrid identity: upper case, 32 bytes. */
export function isIdentity(text: string): boolean {
  const seed = decodeIdentity(text);
  wipe(seed);
  return seed !== null;
}

/**
 * Returns the 32-byte seed of an identity, or null for other text. The caller must wipe the seed.
 */
export function decodeIdentity(text: string): Bytes | null {
  try {
    const { prefix, bytes } = bech32.decodeToBytes(text);
    if (text.startsWith(`${identityPrefix}1`) && prefix.toUpperCase() === identityPrefix && bytes.length === 32)
      return copyOf(bytes);
    wipe(bytes);
    return null;
  } catch {
    return null; // not bech32
  }
}

export async function deriveRecipient(identity: string): Promise<string> {
  return identityToRecipient(identity);
}

/** Whether the text is `age1pq1…` with 1216 bytes, the only kind of recipient in use. */
export function isRecipient(text: string): boolean {
  try {
    const { prefix, words } = bech32.decode(text, false);
    return (
      text.startsWith(`${recipientPrefix}1`) &&
      prefix === recipientPrefix &&
      bech32.fromWords(words).length === recipientLength
    );
  } catch {
    return false; // not bech32
  }
}

/**
 * Seals bytes to 1…32 distinct recipients.
 *
 * @throws PortalError `decryption_failed` if a recipient is not a native hybrid one, which only
 *   tampered data contains
 */
export async function sealTo(recipients: readonly string[], plain: Bytes): Promise<Bytes> {
  const distinct = new Set(recipients);
  if (distinct.size < 1 || distinct.size > maxStanzaCounts.many || distinct.size !== recipients.length)
    throw new PortalError("decryption_failed");
  const encrypter = new Encrypter();
  for (const recipient of recipients) {
    if (!isRecipient(recipient)) throw new PortalError("decryption_failed");
    encrypter.addRecipient(recipient);
  }
  return copyOf(await encrypter.encrypt(plain));
}

/**
 * Opens an age file after checking its header.
 *
 * @returns null if no stanza is for this identity
 * @throws PortalError `decryption_failed` if {@link parseHeaderLength} refuses the header, or if
 *   the file is damaged
 */
export async function openWith(identity: string, sealed: Bytes, stanzaLimit: StanzaLimit): Promise<Bytes | null> {
  if (parseHeaderLength(sealed, stanzaLimit) === null) throw new PortalError("decryption_failed");
  const decrypter = new Decrypter();
  decrypter.addIdentity(identity);
  try {
    return copyOf(await decrypter.decrypt(sealed));
  } catch (cause) {
    if (cause instanceof Error && cause.message === noMatchMessage) return null;
    throw new PortalError("decryption_failed");
  }
}

/** typage's error message if no stanza matches; checked by a test. */
const noMatchMessage = "no identity matched any of the file's recipients";

// 1120 bytes of encapsulated key, then 32 bytes of wrapped key
const stanzaPattern = /^-> mlkem768x25519 [A-Za-z0-9+/]{1494}\n[A-Za-z0-9+/]{43}\n/;
const macPattern = /^--- [A-Za-z0-9+/]{43}\n/;

/**
 * Length of a header in bytes: version line, one or up to 32 hybrid stanzas, MAC line. Null for any
 * other header.
 */
export function parseHeaderLength(sealed: Uint8Array, stanzaLimit: StanzaLimit): number | null {
  const maxCount = maxStanzaCounts[stanzaLimit];
  const versionLine = "age-encryption.org/v1\n";
  const maxLength = versionLine.length + maxCount * 1_600 + 64;
  let text = new TextDecoder("latin1").decode(sealed.subarray(0, maxLength));
  if (!text.startsWith(versionLine)) return null;
  let length = versionLine.length;
  text = text.slice(length);
  let stanzaCount = 0;
  for (let match = stanzaPattern.exec(text); match !== null; match = stanzaPattern.exec(text)) {
    stanzaCount++;
    length += match[0].length;
    text = text.slice(match[0].length);
  }
  const macMatch = macPattern.exec(text);
  return stanzaCount >= 1 && stanzaCount <= maxCount && macMatch !== null ? length + macMatch[0].length : null;
}
