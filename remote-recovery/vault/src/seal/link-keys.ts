import { concatBytes, copyOf, encodeUint32LE, randomBytes, sha256, utf8, wipe, type Bytes } from "./bytes.ts";
import { encodeIdentity } from "./age.ts";
import { importAesKey } from "./document.ts";
import { sealingArgon2Costs, hkdf, encodePassphrase, stretch } from "./kdf.ts";

/** What the link key proves to the service: that somebody has the link. 32 bytes. */
export function deriveLinkAuth(linkKey: Bytes): Bytes {
  return hkdf(linkKey, "relicario/v1/link-auth");
}

/**
 * The link key, or with a password Argon2id(link key ‖ len32(p) ‖ p) with a salt made of the
 * share's id. The password is used as typed, in NFC; an empty one is none.
 *
 * @returns 32 bytes; wipe them after use.
 */
export async function deriveStretchedLinkKey(linkKey: Bytes, shareId: string, password: string | null): Promise<Bytes> {
  if (password === null || password === "") return copyOf(linkKey);
  const encodedPassword = encodePassphrase(password);
  const secret = concatBytes(linkKey, encodeUint32LE(encodedPassword.length), encodedPassword);
  const salt = copyOf(sha256(utf8("relicario/v1/link-salt"), utf8(shareId)).subarray(0, 16));
  try {
    return await stretch(secret, salt, sealingArgon2Costs);
  } finally {
    wipe(encodedPassword, secret);
  }
}

/** What proves to the service that somebody has the link and the password. 32 bytes. */
export function derivePassAuth(stretchedKey: Bytes): Bytes {
  return hkdf(stretchedKey, "relicario/v1/pass-auth");
}

/**
 * The identity that opens the share's ticket, as text: a secret. `imageRoot`: of the share's own
 * picture; null without one.
 */
export function deriveLinkIdentity(stretchedKey: Bytes, imageRoot: Bytes | null): string {
  const secret = imageRoot === null ? copyOf(stretchedKey) : concatBytes(stretchedKey, imageRoot);
  const seed = hkdf(secret, "relicario/v1/link-id");
  try {
    return encodeIdentity(seed);
  } finally {
    wipe(secret, seed);
  }
}

/** What stands behind `#s=` in a link: 32 bytes. Secret. */
export function generateLinkKey(): Bytes {
  return randomBytes(32);
}

/** A non-extractable AES key of a request: `HKDF(link key, label)`. */
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
