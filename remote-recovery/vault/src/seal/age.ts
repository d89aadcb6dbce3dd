import { bech32 } from "@scure/base";
import { PortalError } from "@relicario/shared/errors";
import { Decrypter, Encrypter, identityToRecipient } from "age-encryption";

import { copyOf, randomBytes, wipe, type Bytes } from "./bytes.ts";

/**
 * age, as these formats allow it: native hybrid recipients (ML-KEM-768 + X25519) and nothing else.
 * Never a passphrase, a plugin, a tag or a passkey recipient of age.
 */

const identityPrefix = "AGE-SECRET-KEY-PQ-";
const recipientPrefix = "age1pq";
const recipientLength = 1216;

/**
 * How many stanzas a file may have: `one` in content, slot and share ticket, `many` (1…32) in an
 * owner ticket.
 */
export type StanzaLimit = "one" | "many";
const maxStanzaCounts = { one: 1, many: 32 } as const satisfies Record<StanzaLimit, number>;

/** An age identity as text, from its 32-byte seed. Holds a secret: only in the vault's worker. */
export function encodeIdentity(seed: Uint8Array): string {
  if (seed.length !== 32) throw new TypeError("a seed has 32 bytes");
  return bech32.encodeFromBytes(identityPrefix, seed).toUpperCase();
}

export function generateIdentity(): string {
  const seed = randomBytes(32);
  const identity = encodeIdentity(seed);
  wipe(seed);
  return identity;
}

/** True for a native hybrid identity: upper case, 32 bytes. */
export function isIdentity(text: string): boolean {
  const seed = decodeIdentity(text);
  wipe(seed);
  return seed !== null;
}

/** The 32-byte seed of an identity; null for what is none. Wipe it. */
export function decodeIdentity(text: string): Bytes | null {
  try {
    const { prefix, bytes } = bech32.decodeToBytes(text);
    if (text.startsWith(`${identityPrefix}1`) && prefix.toUpperCase() === identityPrefix && bytes.length === 32)
      return copyOf(bytes);
    wipe(bytes);
    return null;
  } catch {
    return null; // not bech32 at all: the question is yes or no
  }
}

export async function deriveRecipient(identity: string): Promise<string> {
  return identityToRecipient(identity);
}

/** True for `age1pq1…` with 1216 bytes: the only kind that is ever sealed to. */
export function isRecipient(text: string): boolean {
  try {
    const { prefix, words } = bech32.decode(text, false);
    return (
      text.startsWith(`${recipientPrefix}1`) &&
      prefix === recipientPrefix &&
      bech32.fromWords(words).length === recipientLength
    );
  } catch {
    return false; // as above
  }
}

/**
 * Seals bytes to 1…32 recipients.
 *
 * @throws PortalError `decryption_failed` when a recipient is not a native hybrid one: it came from
 *   tampered data.
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
 * Opens an age file after checking its header ourselves.
 *
 * @returns null when no stanza is for this identity.
 * @throws PortalError `decryption_failed` when the header is not one of ours, or the file is
 *   broken.
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

/** typage's words when no stanza unwraps; a test holds it to them. */
const noMatchMessage = "no identity matched any of the file's recipients";

// 1120 bytes encapsulated, 32 bytes of wrapped key
const stanzaPattern = /^-> mlkem768x25519 [A-Za-z0-9+/]{1494}\n[A-Za-z0-9+/]{43}\n/;
const macPattern = /^--- [A-Za-z0-9+/]{43}\n/;

/**
 * Our own header check: version line, 1…`count` stanzas of the one kind, MAC line. Its length in
 * bytes; null when anything else is there.
 */
export function parseHeaderLength(sealed: Uint8Array, stanzaLimit: StanzaLimit): number | null {
  const maxCount = maxStanzaCounts[stanzaLimit];
  const version = "age-encryption.org/v1\n";
  const maxLength = version.length + maxCount * 1_600 + 64;
  let text = new TextDecoder("latin1").decode(sealed.subarray(0, maxLength));
  if (!text.startsWith(version)) return null;
  let length = version.length;
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
