import { hmac } from "@noble/hashes/hmac.js";
import { sha256 } from "@noble/hashes/sha2.js";
import {
  base64urlBytes,
  encodeCanonical,
  PositiveInt,
  Digest,
  fromBase64url,
  Id,
  toBase64url,
  type Json,
  type OpenerKind,
} from "@relicario/shared/api";
import { PortalError } from "@relicario/shared/errors";
import { z } from "zod";

import { AccountKey } from "./account-key.ts";
import { encodeIdentity, openWith, deriveRecipient, sealTo } from "./age.ts";
import { copyOf, equalBytes, wipe, type Bytes } from "./bytes.ts";
import { serializeDocument, parseDocument } from "./document.ts";
import { hkdf } from "./kdf.ts";

/**
 * Keys of a presented opener: its age identity as text, and the key of its slot's MAC. They exist
 * in the worker for one operation; call `wipe` at its end.
 */
export interface OpenerKeys {
  readonly openerId: string;
  readonly identity: string;
  readonly recipient: string;
  /** HKDF(opener seed, `relicario/v1/slot-auth`), 32 bytes */
  readonly slotAuth: Bytes;
  readonly wipe: () => void;
}

export interface RecognisedOpener {
  readonly opener: OpenerKeys;
  readonly kind: OpenerKind;
  /** Digest of an image's helper, base64url; must equal the book's. Null for other kinds. */
  readonly helperSha256: string | null;
  /** Whether it is a picture without a passphrase. */
  readonly isPlain: boolean;
}

/** Derives the opener of an image. Wipes the image root key. */
export async function deriveOpenerFromImageRootKey(openerId: string, imageRootKey: Bytes): Promise<OpenerKeys> {
  const seed = hkdf(imageRootKey, "relicario/v1/image-identity");
  wipe(imageRootKey);
  return deriveOpenerFromSeed(openerId, seed);
}

/**
 * Derives the 32-byte seed of a passkey's opener from its PRF output (WebAuthn 3, 10.1.4). Wipes
 * the output.
 */
export function derivePasskeySeed(prfOutput: Bytes): Bytes {
  if (prfOutput.length !== 32) throw new PortalError("passkey_without_prf");
  const seed = hkdf(prfOutput, "relicario/v1/passkey-identity");
  wipe(prfOutput);
  return seed;
}

/** The part of an opener that is needed to seal a slot. It does not open the slot. */
export type SlotTarget = Pick<OpenerKeys, "openerId" | "recipient" | "slotAuth">;

/** Derives an opener from its 32-byte seed. Wipes the seed. */
export async function deriveOpenerFromSeed(openerId: string, seed: Bytes): Promise<OpenerKeys> {
  const identity = encodeIdentity(seed);
  const slotAuth = hkdf(seed, "relicario/v1/slot-auth");
  wipe(seed);
  return {
    openerId,
    identity,
    recipient: await deriveRecipient(identity),
    slotAuth,
    wipe: () => {
      wipe(slotAuth);
    },
  };
}

/** Returns a copy with a `wipe` of its own. */
export function copyOpenerKeys(opener: OpenerKeys): OpenerKeys {
  const slotAuth = copyOf(opener.slotAuth);
  return {
    ...opener,
    slotAuth,
    wipe: () => {
      wipe(slotAuth);
    },
  };
}

const SlotDocument = z.strictObject({
  v: z.literal(1),
  kind: z.literal("slot"),
  user_id: Id,
  opener_id: Id,
  key_epoch: PositiveInt,
  account_key: base64urlBytes(32, { exact: true }),
  mac: Digest,
});

export interface SlotContext {
  readonly userId: string;
  readonly keyEpoch: number;
}

export async function sealSlot(opener: SlotTarget, userId: string, accountKey: AccountKey): Promise<Bytes> {
  const body = {
    v: 1,
    kind: "slot",
    user_id: userId,
    opener_id: opener.openerId,
    key_epoch: accountKey.keyEpoch,
    account_key: accountKey.withBytes(toBase64url),
  };
  const plain = serializeDocument({ ...body, mac: toBase64url(computeSlotMac(opener.slotAuth, body)) });
  try {
    return await sealTo([opener.recipient], plain);
  } finally {
    wipe(plain);
  }
}

/**
 * Whether a slot is sealed to this opener.
 *
 * @throws PortalError `decryption_failed` for a malformed slot
 */
export async function isSealedTo(opener: OpenerKeys, sealed: Bytes): Promise<boolean> {
  const plain = await openWith(opener.identity, sealed, "one");
  wipe(plain);
  return plain !== null;
}

/**
 * Opens a slot. Checks MAC, user, opener and epoch before returning the key.
 *
 * @throws PortalError `decryption_failed`
 */
export async function openSlot(opener: OpenerKeys, context: SlotContext, sealed: Bytes): Promise<AccountKey> {
  const plain = await openWith(opener.identity, sealed, "one");
  if (plain === null) throw new PortalError("decryption_failed");
  try {
    const { mac, ...body } = parseDocument(SlotDocument, plain);
    const isExpected =
      body.user_id === context.userId && body.opener_id === opener.openerId && body.key_epoch === context.keyEpoch;
    if (!equalBytes(fromBase64url(mac), computeSlotMac(opener.slotAuth, body)) || !isExpected)
      throw new PortalError("decryption_failed");
    return new AccountKey(fromBase64url(body.account_key), context.keyEpoch);
  } finally {
    wipe(plain);
  }
}

/**
 * Computes HMAC-SHA-256 over the JCS without `mac`, so that the recipient alone is not enough to
 * create a slot.
 */
export function computeSlotMac(slotAuth: Bytes, body: Readonly<Record<string, Json>>): Uint8Array {
  return hmac(sha256, slotAuth, encodeCanonical(body));
}
