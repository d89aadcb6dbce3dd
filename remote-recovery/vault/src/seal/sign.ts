import { ed25519 } from "@noble/curves/ed25519.js";
import { signedBytes, toB64u, type Json, type SignaturePrefix } from "@relicario/shared/api";

import { copyOf, type Bytes } from "./bytes.ts";

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
