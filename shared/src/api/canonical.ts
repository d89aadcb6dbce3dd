import canonicalize from "canonicalize";

/** A value that RFC 8785 can express here: integers 0…2^53-1 only. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [member: string]: Json | undefined };

const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/**
 * RFC 8785 (JCS) as UTF-8. Members that are undefined are left out.
 *
 * @throws TypeError for numbers other than integers 0…2^53-1 and for ill-formed Unicode.
 */
export function encodeCanonical(value: Json): Uint8Array<ArrayBuffer> {
  return encoder.encode(stringifyCanonical(value));
}

export function stringifyCanonical(value: Json): string {
  assertRepresentable(value);
  const text = canonicalize(value);
  if (text === undefined) throw new TypeError("nothing to canonicalise");
  return text;
}

/**
 * Parses UTF-8 that must be exactly the JCS of what it says, after trailing spaces (padding) are
 * dropped.
 *
 * @returns null when it is not: broken JSON, double members, other spacing or order, inexact
 *   numbers, ill-formed Unicode.
 */
export function parseCanonical(bytes: Uint8Array): unknown {
  try {
    const text = decoder.decode(bytes).replace(/ +$/, "");
    const value = JSON.parse(text) as Json;
    return stringifyCanonical(value) === text ? value : null;
  } catch {
    return null; // whatever is wrong with it, the answer is the same
  }
}

function assertRepresentable(value: Json | undefined): void {
  if (typeof value === "number") {
    if (!Number.isSafeInteger(value) || value < 0 || Object.is(value, -0))
      throw new TypeError("only integers 0…2^53-1");
  } else if (typeof value === "string") {
    if (!value.isWellFormed()) throw new TypeError("ill-formed Unicode");
  } else if (Array.isArray(value)) {
    for (const item of value as readonly Json[]) assertRepresentable(item);
  } else if (typeof value === "object" && value !== null) {
    for (const [name, item] of Object.entries(value)) {
      assertRepresentable(name);
      assertRepresentable(item);
    }
  }
}
