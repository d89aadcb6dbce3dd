import { concatBytes, copyOf, encodeUint32LE, randomBytes, sha256, utf8, wipe, type Bytes } from "./bytes.ts";
import { encodeIdentity } from "./age.ts";
import { importAesKey } from "./document.ts";
import { sealingArgon2Costs, hkdf, encodePassphrase, stretch } from "./kdf.ts";

/** Derives the proof for the service that its holder has the link. 32 bytes. */
export function deriveLinkAuth(linkKey: Bytes): Bytes {
  return hkdf(linkKey, "relicario/v1/link-auth");
}

/**
 * Returns the link key; with a password, Argon2id(link key ‖ len32(p) ‖ p) with the share's id as
 * salt. The password is used as typed, in NFC; an empty one counts as none.
 *
 * @returns 32 bytes, which the caller wipes
 */
export async function deriveStretchedLinkKey(linkKey: Bytes, shareId: string, password: string | null): Promise<Bytes> {
  if (password === null || password === "") return copyOf(linkKey);
  const encodedPassword = encodePassphrase(password);
  const keyMaterial = concatBytes(linkKey, encodeUint32LE(encodedPassword.length), encodedPassword);
  const salt = copyOf(sha256(utf8("relicario/v1/link-salt"), utf8(shareId)).subarray(0, 16));
  try {
    return await stretch(keyMaterial, salt, sealingArgon2Costs);
  } finally {
    wipe(encodedPassword, keyMaterial);
  }
}

/** Derives the proof for the service that its holder has the link and the password. 32 bytes. */
export function derivePassAuth(stretchedKey: Bytes): Bytes {
  return hkdf(stretchedKey, "relicario/v1/pass-auth");
}

/**
 * Derives the identity that opens the share's ticket, as text. Secret.
 *
 * @param imageRootKey root key of the share's own picture; null without a picture
 */
export function deriveLinkIdentity(stretchedKey: Bytes, imageRootKey: Bytes | null): string {
  const keyMaterial = imageRootKey === null ? copyOf(stretchedKey) : concatBytes(stretchedKey, imageRootKey);
  const seed = hkdf(keyMaterial, "relicario/v1/link-id");
  try {
    return encodeIdentity(seed);
  } finally {
    wipe(keyMaterial, seed);
  }
}

/** Generates the 32 bytes after `#s=` in a link. Secret. */
export function generateLinkKey(): Bytes {
  return randomBytes(32);
}

/** Derives a non-extractable AES key for a request: `HKDF(link key, label)`. */
export async function deriveLinkAesKey(
  linkKey: Bytes,
  label: "relicario/v1/request" | "relicario/v1/request-resume",
): Promise<CryptoKey> {
  const bytes = hkdf(linkKey, label);
  try {
    return await importAesKey(bytes);
  } finally {
    wipe(bytes);
  }
}
