import { ed25519 } from "@noble/curves/ed25519.js";

import { encodeCanonical, type Json } from "./canonical.ts";
import { fromBase64url } from "./wire.ts";

/** What a signature is made for; the prefix keeps one kind from passing as another. */
export const signaturePrefixes = {
  ticket: "relicario/v1/ticket",
  key: "relicario/v1/key",
  put: "relicario/v1/put",
} as const;
export type SignaturePrefix = keyof typeof signaturePrefixes;

/** The bytes that are signed: `<prefix> ‖ 0x0A ‖ JCS without sig` (docs/formats.md). */
export function buildSignedMessage(
  prefix: SignaturePrefix,
  document: Readonly<Record<string, Json | undefined>>,
): Uint8Array<ArrayBuffer> {
  const { sig: _, ...rest } = document;
  const head = new TextEncoder().encode(`${signaturePrefixes[prefix]}\n`);
  const body = encodeCanonical(rest);
  const message = new Uint8Array(head.length + body.length);
  message.set(head);
  message.set(body, head.length);
  return message;
}

/**
 * Strict RFC 8032 verification of the member `sig` (base64url, 64 bytes) by `signingKey` (32
 * bytes). False for every failure, malformed keys and signatures included.
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
    return false; // a malformed key or signature is simply not a valid one
  }
}
