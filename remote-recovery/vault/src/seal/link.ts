import { randomBytes, wipe, type Bytes } from "./bytes.ts";
import { importAesKey } from "./document.ts";
import { hkdf } from "./kdf.ts";

/** What stands behind `#s=` in a link: 32 bytes. Whoever has it may do what the link is for; the service never sees it. */
export const linkKeyBytes = 32;

export function newLinkKey(): Bytes {
  return randomBytes(linkKeyBytes);
}

/** Shown to the service as the proof of a link key; 32 bytes. It keeps the SHA-256. */
export function linkAuth(linkKey: Bytes): Bytes {
  return hkdf(linkKey, "relicario/v1/link-auth");
}

/** A non-extractable AES key that hangs on a link key: `HKDF(link key, label)`. */
export async function linkAesKey(linkKey: Bytes, label: "relicario/v1/request" | "relicario/v1/request-resume"): Promise<CryptoKey> {
  const bytes = hkdf(linkKey, label);
  try {
    return await importAesKey(bytes);
  } finally {
    wipe(bytes);
  }
}
