import { base64urlBytes, contentKinds, Digest, fromBase64url, toBase64url } from "@relicario/shared/api";
import type { ContentKind } from "@relicario/shared/contract";
import { PortalError } from "@relicario/shared/errors";
import { z } from "zod";

import { copyOf, type Bytes } from "../seal/bytes.ts";
import type { ContentSeal } from "../seal/content-stream.ts";
import { partSizeLimits } from "./part-sizes.ts";

/** Data that resumes the sealing of a content; saved, wrapped, before each part is sent. */
export const SealingState = z.strictObject({
  /** 32 bytes. Secret. */
  payload_key: base64urlBytes(32, { exact: true }),
  /** Header and payload nonce. */
  prefix: base64urlBytes(4096),
  kind: z.enum(contentKinds),
  /** Length of the plaintext in bytes. */
  size: z.int().min(0),
  part_size: z.int().min(1),
  /** SHA-256 of each sealed part, in order. */
  parts: z.array(Digest),
  /** State of the digest of all these parts; null before the first. */
  digest_state: z.string().nullable(),
  /** Digest of the whole sealed content; null until all of it is sealed and sent. */
  content_sha256: Digest.nullable(),
});
export type SealingState = z.infer<typeof SealingState>;

export function decodeKeys(sealing: SealingState): { payloadKey: Bytes; prefix: Bytes } {
  return { payloadKey: copyOf(fromBase64url(sealing.payload_key)), prefix: copyOf(fromBase64url(sealing.prefix)) };
}

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

/** @throws PortalError `bad_answer` for a length outside the limits or a wrong number of parts */
export function requirePartSize(
  { part_size: partSize, parts: partCount }: { readonly part_size: number; readonly parts: number },
  sealedSize: number,
): number {
  if (partSize < partSizeLimits.min || partSize > partSizeLimits.max || partCount !== Math.ceil(sealedSize / partSize))
    throw new PortalError("bad_answer");
  return partSize;
}
