import { z } from "zod";

/** UUID version 7, lower case: ids that the client makes and the service checks. */
export const Id = z
  .string()
  .regex(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/, "not a UUIDv7");
export type Id = z.infer<typeof Id>;

/** RFC 3339, UTC, milliseconds: `2026-11-21T10:04:05.678Z`. */
export const Timestamp = z.iso.datetime({ precision: 3 });

/** Counters begin at 1; 2^53 - 1 is the largest integer of JCS. */
export const PositiveInt = z.int().min(1);

/**
 * base64url without padding, of at most `max` bytes (exactly `max` when `exact`). The alphabet and
 * the last bits are checked.
 */
export function base64urlBytes(max: number, { exact = false }: { exact?: boolean } = {}): z.ZodString {
  const maxLength = Math.ceil((max * 4) / 3);
  const text = z
    .string()
    .min(exact ? maxLength : 1)
    .max(maxLength);
  return text.refine((value) => isBase64url(value), "not base64url");
}

/** SHA-256 as base64url. */
export const Digest = base64urlBytes(32, { exact: true });

/** Ed25519 signature as base64url. */
export const Signature = base64urlBytes(64, { exact: true });

/** A compact JWE of at most `max` characters: five parts, the second empty (`alg: dir`). */
export function compactJwe(max: number): z.ZodString {
  return z
    .string()
    .max(max)
    .regex(/^[A-Za-z0-9_-]+\.\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+$/, "not a compact JWE");
}

/** base64url without padding (RFC 4648, section 5). */
export function toBase64url(bytes: Uint8Array): string {
  let binary = "";
  for (let offset = 0; offset < bytes.length; offset += chunkBytes)
    binary += String.fromCharCode(...bytes.subarray(offset, offset + chunkBytes));
  return btoa(binary).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

/**
 * Throws a plain Error on anything but canonical base64url; parse with {@link base64urlBytes}
 * first.
 */
export function fromBase64url(text: string): Uint8Array<ArrayBuffer> {
  if (!isBase64url(text)) throw new TypeError("not canonical base64url");
  const binary = atob(text.replaceAll("-", "+").replaceAll("_", "/"));
  const bytes = new Uint8Array(binary.length);
  // a list decodes tens of thousands: `Uint8Array.from` takes ten times as long
  for (let index = 0; index < binary.length; index++) bytes[index] = binary.charCodeAt(index);
  return bytes;
}

/** So many bytes are spread into one call: engines limit its arguments. */
const chunkBytes = 8_192;

/**
 * Without decoding, for `atob` does not look at the last bits: several texts would stand for the
 * same bytes.
 */
function isBase64url(text: string): boolean {
  if (!/^[A-Za-z0-9_-]*$/.test(text)) return false;
  const last = text.at(-1) ?? "";
  if (text.length % 4 === 2) return "AQgw".includes(last); // four bits are left over
  if (text.length % 4 === 3) return "AEIMQUYcgkosw048".includes(last); // two bits
  return text.length % 4 === 0;
}
