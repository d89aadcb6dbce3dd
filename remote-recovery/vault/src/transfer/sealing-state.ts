import { base64urlBytes, Digest, fromBase64url, toBase64url } from "@relicario/shared/api";
import type { ContentKind } from "@relicario/shared/contract";
import { PortalError } from "@relicario/shared/errors";
import { z } from "zod";

import { copyOf, type Bytes } from "../seal/bytes.ts";
import type { ContentSeal } from "../seal/content-stream.ts";
import { partSizeLimits } from "./part-sizes.ts";

/**
 * What sealing a content on its way goes on with: written down, wrapped, before each part leaves.
 */
export const SealingState = z.strictObject({
  /** 32 bytes, for the pieces of this content alone. Secret. */
  payload_key: base64urlBytes(32, { exact: true }),
  /** Header and payload nonce. */
  prefix: base64urlBytes(4096),
  kind: z.enum(["text", "seed", "file"]),
  /** Bytes of the plain content. */
  size: z.int().min(0),
  part_size: z.int().min(1),
  /** SHA-256 of each part that was sealed, from the first on. */
  parts: z.array(Digest),
  /** Of the digest over all of them; null before the first. */
  digest_state: z.string().nullable(),
  /** Over the whole sealed content; null until it is sealed and sent. */
  content_sha256: Digest.nullable(),
});
export type SealingState = z.infer<typeof SealingState>;

export function decodeKeys(sealing: SealingState): { payloadKey: Bytes; prefix: Bytes } {
  return { payloadKey: copyOf(fromBase64url(sealing.payload_key)), prefix: copyOf(fromBase64url(sealing.prefix)) };
}

/** Of a content of which nothing is sealed yet. */
export function createSealingState(
  { payloadKey, prefix }: ContentSeal,
  kind: ContentKind,
  size: number,
  partSize: number,
): SealingState {
  return {
    payload_key: toBase64url(payloadKey),
    prefix: toBase64url(prefix),
    kind,
    size,
    part_size: partSize,
    parts: [],
    digest_state: null,
    content_sha256: null,
  };
}

/**
 * @throws PortalError `bad_answer` for parts that would not fit the memory, or are without number.
 */
export function requirePartSize(
  { part_size: partSize, parts }: { readonly part_size: number; readonly parts: number },
  sealedSize: number,
): number {
  if (partSize < partSizeLimits.min || partSize > partSizeLimits.max || parts !== Math.ceil(sealedSize / partSize))
    throw new PortalError("bad_answer");
  return partSize;
}
