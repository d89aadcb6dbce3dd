import { bytesB64u, Digest, fromB64u } from "@relicario/shared/api";
import { z } from "zod";

import { copyOf, type Bytes } from "../seal/bytes.ts";

/** What sealing a content on its way goes on with: written down, wrapped, before each part leaves. */
export const Sealing = z.strictObject({
  /** 32 bytes, for the pieces of this content alone. Secret. */
  payload_key: bytesB64u(32, { exact: true }),
  /** Header and payload nonce. */
  prefix: bytesB64u(4096),
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
export type Sealing = z.infer<typeof Sealing>;

export function keyBytes(sealing: Sealing): { payloadKey: Bytes; prefix: Bytes } {
  return { payloadKey: copyOf(fromB64u(sealing.payload_key)), prefix: copyOf(fromB64u(sealing.prefix)) };
}
