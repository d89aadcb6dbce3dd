import { ed25519 } from "@noble/curves/ed25519.js";
import { signedBytes, toB64u, type Json, type SignaturePrefix } from "@relicario/shared/api";
import { PortalError } from "@relicario/shared/errors";

import { identityOf, recipientOf } from "./age.ts";
import { copyOf, equalBytes, randomBytes, wipe, type Bytes } from "./bytes.ts";
import { hkdfAesKey, hkdfBytes } from "./kdf.ts";

/**
 * The account key as a device holds it: twice, and never as readable bytes. `hkdf` derives everything from it; `sealed`
 * is it again, encrypted under `wrapping`, for the one action that needs its bytes: sealing a slot. Both keys are
 * non-extractable. This object may be stored in IndexedDB (without `hkdf`) on a person's own device.
 */
export interface AccountKey {
  readonly hkdf: CryptoKey;
  readonly wrapping: CryptoKey;
  readonly iv: Bytes;
  readonly sealed: Bytes;
  readonly keyEpoch: number;
}

/** What is kept of it between page loads. */
export type KeptAccountKey = Omit<AccountKey, "hkdf">;

export function newAccountKeyBytes(): Bytes {
  return randomBytes(32);
}

/** Takes account key bytes in and wipes them. */
export async function importAccountKey(bytes: Bytes, keyEpoch: number): Promise<AccountKey> {
  try {
    if (bytes.length !== 32) throw new PortalError("decryption_failed");
    const wrapping = await crypto.subtle.generateKey({ name: "AES-GCM", length: 256 }, false, ["encrypt", "decrypt", "unwrapKey"]);
    const iv = randomBytes(12);
    const sealed = new Uint8Array(await crypto.subtle.encrypt({ name: "AES-GCM", iv }, wrapping, bytes));
    return await unwrapAccountKey({ wrapping, iv, sealed, keyEpoch });
  } finally {
    wipe(bytes);
  }
}

/**
 * From what a device kept: unwrapped straight to HKDF, its bytes are not seen.
 *
 * @throws PortalError `decryption_failed`.
 */
export async function unwrapAccountKey(kept: KeptAccountKey): Promise<AccountKey> {
  const { wrapping, iv, sealed, keyEpoch } = kept;
  try {
    const hkdf = await crypto.subtle.unwrapKey("raw", sealed, wrapping, { name: "AES-GCM", iv }, "HKDF", false, ["deriveBits", "deriveKey"]);
    return { hkdf, wrapping, iv, sealed, keyEpoch };
  } catch {
    throw new PortalError("decryption_failed");
  }
}

/** Decrypts the account key for sealing a slot; wiped when `work` is done. */
export async function withAccountKeyBytes<T>(key: AccountKey, work: (bytes: Bytes) => Promise<T>): Promise<T> {
  const bytes = new Uint8Array(await crypto.subtle.decrypt({ name: "AES-GCM", iv: key.iv }, key.wrapping, key.sealed));
  try {
    return await work(bytes);
  } finally {
    wipe(bytes);
  }
}

/** All that hangs on an account key. The four document keys are non-extractable; seeds are derived anew at each use. */
export interface AccountKeys {
  readonly accountKey: AccountKey;
  readonly keyEpoch: number;
  readonly label: CryptoKey;
  readonly book: CryptoKey;
  readonly shares: CryptoKey;
  readonly state: CryptoKey;
  /** Public half of the account identity. */
  readonly recipient: string;
  /** Public half of the signing key, 32 bytes. */
  readonly signingKey: Bytes;
}

export async function deriveAccountKeys(accountKey: AccountKey): Promise<AccountKeys> {
  const { hkdf, keyEpoch } = accountKey;
  const [label, book, shares, state, identitySeed, signSeed] = await Promise.all([
    hkdfAesKey(hkdf, "relicario/v1/label"),
    hkdfAesKey(hkdf, "relicario/v1/book"),
    hkdfAesKey(hkdf, "relicario/v1/shares"),
    hkdfAesKey(hkdf, "relicario/v1/state"),
    hkdfBytes(hkdf, "relicario/v1/identity"),
    hkdfBytes(hkdf, "relicario/v1/sign"),
  ]);
  try {
    return { accountKey, keyEpoch, label, book, shares, state, recipient: await recipientOf(identityOf(identitySeed)), signingKey: signingKeyOf(signSeed) };
  } finally {
    wipe(identitySeed, signSeed);
  }
}

/** Lends the signing seed; wiped when `work` is done. */
export async function withSigningSeed<T>(keys: AccountKeys, work: (seed: Bytes) => T | Promise<T>): Promise<T> {
  const seed = await hkdfBytes(keys.accountKey.hkdf, "relicario/v1/sign");
  try {
    return await work(seed);
  } finally {
    wipe(seed);
  }
}

/** True when both hang on the same account key: the signing keys say so without showing either. */
export function isSameAccountKey(left: AccountKeys, right: AccountKeys): boolean {
  return left.keyEpoch === right.keyEpoch && equalBytes(left.signingKey, right.signingKey);
}

/** Public key, 32 bytes, of an Ed25519 seed. */
export function signingKeyOf(seed: Uint8Array): Bytes {
  return copyOf(ed25519.getPublicKey(seed));
}

/** Adds `sig` (RFC 8032, base64url) over `<prefix> ‖ 0x0A ‖ JCS without sig`. */
export function signDocument<T extends Readonly<Record<string, Json | undefined>>>(
  prefix: SignaturePrefix,
  document: T,
  seed: Uint8Array,
): T & { readonly sig: string } {
  return { ...document, sig: toB64u(ed25519.sign(signedBytes(prefix, document), seed)) };
}
