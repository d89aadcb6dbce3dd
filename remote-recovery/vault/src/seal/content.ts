import { toBase64url } from "@relicario/shared/api";
import { PortalError } from "@relicario/shared/errors";
import type { z } from "zod";

import { generateIdentity, openWith, deriveRecipient, sealTo } from "./age.ts";
import { concatBytes, copyOf, sha256Async, wipe, type Bytes } from "./bytes.ts";
import type { ContentKind } from "./label.ts";
import { computePaddedLength } from "./content-sizes.ts";

const lineFeed = 0x0a;

export interface SealedContent {
  readonly sealed: Bytes;
  /** base64url */
  readonly sha256: string;
  /** New identity that opens only this version. Secret. */
  readonly identity: string;
  /** Length of the plain content in bytes. */
  readonly size: number;
}

type Kind = z.infer<typeof ContentKind>;

function isPadded(kind: Kind): boolean {
  return kind !== "file";
}

/** Seals content for a new content identity. The caller discards the plaintext. */
export async function sealContent(kind: Kind, plain: Bytes): Promise<SealedContent> {
  const identity = generateIdentity();
  const padded = isPadded(kind) ? padText(plain) : plain;
  const sealed = await sealTo([await deriveRecipient(identity)], padded);
  if (padded !== plain) wipe(padded);
  return { sealed, sha256: toBase64url(await sha256Async(sealed)), identity, size: plain.length };
}

/**
 * Opens content completely or not at all: checks the digest, then the age file, then padding and
 * size.
 *
 * @throws PortalError `decryption_failed`
 */
export async function openContent(
  kind: Kind,
  sealed: Bytes,
  expected: { sha256: string; identity: string; size: number },
): Promise<Bytes> {
  if (toBase64url(await sha256Async(sealed)) !== expected.sha256) throw new PortalError("decryption_failed");
  const plain = await openWith(expected.identity, sealed, "one");
  if (plain === null) throw new PortalError("decryption_failed");
  if (isPadded(kind)) return unpadText(plain, expected.size);
  if (plain.length !== expected.size) throw new PortalError("decryption_failed");
  return plain;
}

/**
 * Pads text with line feeds to 256 · max(1, ⌈size / 256⌉) bytes, so that the length reveals little.
 */
export function padText(text: Uint8Array): Bytes {
  return concatBytes(text, new Uint8Array(computePaddedLength("text", text.length) - text.length).fill(lineFeed));
}

/**
 * Checks the padding of a text and removes it.
 *
 * @throws PortalError `decryption_failed` if the padding differs from that of {@link padText}
 */
export function unpadText(padded: Uint8Array, size: number): Bytes {
  const isPaddingValid =
    padded.length === computePaddedLength("text", size) && padded.subarray(size).every((byte) => byte === lineFeed);
  if (!isPaddingValid) throw new PortalError("decryption_failed");
  return copyOf(padded.subarray(0, size));
}
