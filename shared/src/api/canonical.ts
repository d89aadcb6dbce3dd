import canonicalize from "canonicalize";

/**
 * JSON value that this module can write as RFC 8785. Its numbers are only integers from 0 to
 * 2^53-1.
 */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [member: string]: Json | undefined };

const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/**
 * Encodes a value as RFC 8785 (JCS) in UTF-8. Omits undefined members.
 *
 * @throws TypeError for numbers other than integers from 0 to 2^53-1, and for ill-formed Unicode
 */
export function encodeCanonical(value: Json): Uint8Array<ArrayBuffer> {
  return encoder.encode(stringifyCanonical(value));
}

export function stringifyCanonical(value: Json): string {
  assertRepresentable(value);
  const text = canonicalize(value);
  if (text === undefined) throw new TypeError("undefined cannot be encoded: pass a JSON value");
  return text;
}

/**
 * Parses UTF-8 that is exactly its own JCS encoding, except for trailing spaces (padding).
 *
 * @returns null for anything else: invalid JSON, duplicate members, other spacing or order, inexact
 *   numbers, ill-formed Unicode
 */
export function parseCanonical(bytes: Uint8Array): unknown {
  try {
    const text = decoder.decode(bytes).replace(/ +$/, "");
    const value = JSON.parse(text) as Json;
    return stringifyCanonical(value) === text ? value : null;
  } catch {
    return null; // every fault has the same result
  }
}

function assertRepresentable(value: Json | undefined): void {
  if (typeof value === "number") {
    if (!Number.isSafeInteger(value) || value < 0 || Object.is(value, -0))
      throw new TypeError("a number must be an integer from 0 to 2^53-1");
  } else if (typeof value === "string") {
    if (!value.isWellFormed()) throw new TypeError("a text must be well-formed Unicode");
  } else if (Array.isArray(value)) {
    for (const item of value as readonly Json[]) assertRepresentable(item);
  } else if (typeof value === "object" && value !== null) {
    for (const [name, item] of Object.entries(value)) {
      assertRepresentable(name);
      assertRepresentable(item);
    }
  }
}
