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
} from "@relicario/shared/api";
import { PortalError } from "@relicario/shared/errors";
import { z } from "zod";

import { AccountKey } from "./account-key.ts";
import { encodeIdentity, openWith, deriveRecipient, sealTo } from "./age.ts";
import { equalBytes, wipe, type Bytes } from "./bytes.ts";
import { serializeDocument, parseDocument } from "./document.ts";
import { hkdf } from "./kdf.ts";

/**
 * What an opener can do while it is shown: an age identity as text, and the key of its slot's mac.
 * It lives for one action in the worker; call `wipe` at its end.
 */
export interface OpenerKeys {
  readonly openerId: string;
  readonly identity: string;
  readonly recipient: string;
  /** HKDF(opener seed, `relicario/v1/slot-auth`), 32 bytes. */
  readonly slotAuth: Bytes;
  readonly wipe: () => void;
}

/** The opener of an image, from its root. Wipes the root. */
export async function deriveOpenerFromImageRootKey(openerId: string, imageRoot: Bytes): Promise<OpenerKeys> {
  const seed = hkdf(imageRoot, "relicario/v1/image-identity");
  wipe(imageRoot);
  return deriveOpenerFromSeed(openerId, seed);
}

/**
 * The 32-byte seed of a passkey's opener, from what its PRF gave (WebAuthn 3, 10.1.4). Wipes that.
 */
export function derivePasskeySeed(prf: Bytes): Bytes {
  if (prf.length !== 32) throw new PortalError("passkey_without_prf");
  const seed = hkdf(prf, "relicario/v1/passkey-identity");
  wipe(prf);
  return seed;
}

/** What a slot is made for: everything of an opener but what opens. Nobody reads a slot with it. */
export type SlotTarget = Pick<OpenerKeys, "openerId" | "recipient" | "slotAuth">;

/** Any opener, from its 32-byte seed. Wipes the seed. */
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

const SlotDocument = z.strictObject({
  v: z.literal(1),
  kind: z.literal("slot"),
  user_id: Id,
  opener_id: Id,
  key_epoch: PositiveInt,
  account_key: base64urlBytes(32, { exact: true }),
  mac: Digest,
});

/** Whose slot, and of which generation. */
export interface SlotContext {
  readonly userId: string;
  readonly keyEpoch: number;
}

/** Seals the account key to one opener alone. */
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
 * Whether a slot is sealed to this opener. @throws PortalError `decryption_failed` for one that is
 * no slot of ours.
 */
export async function isSealedTo(opener: OpenerKeys, sealed: Bytes): Promise<boolean> {
  const plain = await openWith(opener.identity, sealed, "one");
  wipe(plain);
  return plain !== null;
}

/**
 * Opens a slot; mac, user, opener and epoch are checked before the key is given out.
 *
 * @throws PortalError `decryption_failed`.
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

/** HMAC-SHA-256 over the JCS without `mac`: whoever only knows the recipient cannot make a slot. */
export function computeSlotMac(slotAuth: Bytes, body: Readonly<Record<string, Json>>): Uint8Array {
  return hmac(sha256, slotAuth, encodeCanonical(body));
}
