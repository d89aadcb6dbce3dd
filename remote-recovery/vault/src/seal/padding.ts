import { canonicalBytes, parseCanonical, type Json } from "@relicario/shared/api";
import { PortalError } from "@relicario/shared/errors";
import type { z } from "zod";

import { concat, copyOf, type Bytes } from "./bytes.ts";

const documentStep = 512;
export const textStep = 256;
const space = 0x20;
const lineFeed = 0x0a;

/** The plaintext of a sealed document: JCS with trailing spaces up to a multiple of 512 bytes. */
export function documentBytes(document: Json): Bytes {
  const bytes = canonicalBytes(document);
  return concat(bytes, new Uint8Array(upTo(bytes.length, documentStep) - bytes.length).fill(space));
}

/**
 * Reads the plaintext of a sealed document: padding, canonical form, `v`, then every member.
 *
 * @throws PortalError `decryption_failed` for whatever is wrong with it.
 */
export function parseDocument<T>(schema: z.ZodType<T>, bytes: Uint8Array): T {
  const value = parseCanonical(bytes);
  if (typeof value !== "object" || value === null || !("v" in value) || value.v !== 1) throw new PortalError("decryption_failed");
  const parsed = schema.safeParse(value);
  if (!parsed.success || bytes.length !== upTo(unpaddedLength(bytes), documentStep)) throw new PortalError("decryption_failed");
  return parsed.data;
}

/** Text content is padded to 256 · max(1, ⌈size / 256⌉) bytes with line feeds, so that its size says little. */
export function padText(text: Uint8Array): Bytes {
  return concat(text, new Uint8Array(upTo(text.length, textStep) - text.length).fill(lineFeed));
}

/**
 * Cuts a padded text to its size after checking the padding.
 *
 * @throws PortalError `decryption_failed` when length or padding is not what {@link padText} makes.
 */
export function unpadText(padded: Uint8Array, size: number): Bytes {
  const fits = padded.length === upTo(size, textStep) && padded.subarray(size).every((byte) => byte === lineFeed);
  if (!fits) throw new PortalError("decryption_failed");
  return copyOf(padded.subarray(0, size));
}

function upTo(length: number, step: number): number {
  return step * Math.max(1, Math.ceil(length / step));
}

function unpaddedLength(bytes: Uint8Array): number {
  let length = bytes.length;
  while (length > 0 && bytes[length - 1] === space) length--;
  return length;
}
