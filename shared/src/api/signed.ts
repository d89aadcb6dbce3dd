import { ed25519 } from "@noble/curves/ed25519.js";
import { sha256 } from "@noble/hashes/sha2.js";

import { encodeCanonical, type Json } from "./canonical.ts";
import { fromBase64url } from "./wire.ts";

/**
 * Prefixes of signatures by purpose. They keep a signature for one purpose from being accepted for
 * another.
 */
export const signaturePrefixes = {
  ticket: "relicario/v1/ticket",
  key: "relicario/v1/key",
  put: "relicario/v1/put",
  "author-ticket": "relicario/v1/author-ticket",
  "author-put": "relicario/v1/author-put",
} as const;
export type SignaturePrefix = keyof typeof signaturePrefixes;

/**
 * Builds the signed bytes: `<prefix> ‖ 0x0A ‖ SHA-256(JCS without sig)` (docs/formats.md). They are
 * a digest because WebKitGTK signs no message of 64 KiB, which a keyring change can exceed.
 */
export function buildSignedMessage(
  prefix: SignaturePrefix,
  document: Readonly<Record<string, Json | undefined>>,
): Uint8Array<ArrayBuffer> {
  const { sig: _, ...rest } = document;
  const head = new TextEncoder().encode(`${signaturePrefixes[prefix]}\n`);
  const body = sha256(encodeCanonical(rest));
  const message = new Uint8Array(head.length + body.length);
  message.set(head);
  message.set(body, head.length);
  return message;
}

/**
 * Verifies the member `sig` (base64url, 64 bytes) with `signingKey` (32 bytes), strictly by RFC
 * 8032. Returns false for every failure, even a malformed key or signature.
 */
export function hasValidSignature(
  prefix: SignaturePrefix,
  document: Readonly<Record<string, Json | undefined>> & { readonly sig: string },
  signingKey: Uint8Array,
): boolean {
  try {
    return ed25519.verify(fromBase64url(document.sig), buildSignedMessage(prefix, document), signingKey, {
      zip215: false,
    });
  } catch {
    return false; // malformed key or signature
  }
}
