import { encodeCanonical, fromBase64url, parseCanonical, type Json } from "@relicario/shared/api";
import { PortalError } from "@relicario/shared/errors";
import { CompactEncrypt, compactDecrypt, errors } from "jose";
import type { z } from "zod";

import { concatBytes, sha256, utf8, type Bytes } from "./bytes.ts";

const paddingStep = 512;
const paddingByte = 0x20;

/** Types of sealed documents, each with its own key. */
export const jweTypes = {
  label: "relicario-label",
  book: "relicario-book",
  state: "relicario-state",
  shares: "relicario-shares",
  requests: "relicario-requests",
  inner: "relicario-inner",
  request: "relicario-request",
  linkDevice: "relicario-link-device",
} as const;
export type JweType = (typeof jweTypes)[keyof typeof jweTypes];

/**
 * The protected header without `alg` and `enc`: names the document and, if it belongs to an
 * account, its `user_id` and `key_epoch`.
 */
export interface JweHeader {
  readonly typ: JweType;
  readonly [member: string]: string | number | null;
}

export function importAesKey(bytes: Bytes): Promise<CryptoKey> {
  return crypto.subtle.importKey("raw", bytes, "AES-GCM", false, ["encrypt", "decrypt"]);
}

/** Seals a document as a compact JWE: `dir`, A256GCM, random 96-bit IV. */
export function sealJwe(key: CryptoKey, header: JweHeader, document: Json): Promise<string> {
  return new CompactEncrypt(serializeDocument(document))
    .setProtectedHeader({ alg: "dir", enc: "A256GCM", ...header })
    .encrypt(key);
}

/**
 * Opens a compact JWE and its document. Every member of the header must equal the expected one.
 *
 * @throws PortalError `decryption_failed` on every mismatch or failure
 */
export async function openJwe<T>(key: CryptoKey, expected: JweHeader, jwe: string, schema: z.ZodType<T>): Promise<T> {
  const header = parseUnverifiedHeader(jwe);
  const expectedHeader: Record<string, unknown> = { alg: "dir", enc: "A256GCM", ...expected };
  const names = Object.keys(expectedHeader);
  const matches =
    Object.keys(header).length === names.length &&
    names.every((name) => Object.hasOwn(header, name) && header[name] === expectedHeader[name]);
  if (!matches) throw new PortalError("decryption_failed");
  try {
    const { plaintext } = await compactDecrypt(jwe, key, {
      keyManagementAlgorithms: ["dir"],
      contentEncryptionAlgorithms: ["A256GCM"],
    });
    return parseDocument(schema, plaintext);
  } catch (cause) {
    if (cause instanceof errors.JOSEError) throw new PortalError("decryption_failed");
    throw cause;
  }
}

/**
 * Parses the protected header without authentication. Use it for comparisons and digests, but do
 * not trust it.
 *
 * @throws PortalError `decryption_failed`
 */
export function parseUnverifiedHeader(jwe: string): Readonly<Record<string, unknown>> {
  try {
    const header: unknown = JSON.parse(strictUtf8Decoder.decode(fromBase64url(jwe.slice(0, jwe.indexOf(".")))));
    if (isObject(header)) return header;
  } catch {
    // not base64url, UTF-8 or JSON: the same error as for other values
  }
  throw new PortalError("decryption_failed");
}

const strictUtf8Decoder = new TextDecoder("utf-8", { fatal: true });

/**
 * Checks without a schema, which would take several times as long: a list parses two headers for
 * each label.
 */
function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Digest of a sealed document, over its bytes as sent. */
export function computeJweDigest(jwe: string): Bytes {
  return sha256(utf8(jwe));
}

/** Serializes a document as JCS, padded with spaces to a multiple of 512 bytes. */
export function serializeDocument(document: Json): Bytes {
  const bytes = encodeCanonical(document);
  return concatBytes(bytes, new Uint8Array(roundUp(bytes.length, paddingStep) - bytes.length).fill(paddingByte));
}

/**
 * Parses the plaintext of a sealed document: checks padding, canonical form, `v`, then every
 * member.
 *
 * @throws PortalError `decryption_failed`
 */
export function parseDocument<T>(schema: z.ZodType<T>, bytes: Uint8Array): T {
  const value = parseCanonical(bytes);
  if (typeof value !== "object" || value === null || !("v" in value) || value.v !== 1)
    throw new PortalError("decryption_failed");
  const parsed = schema.safeParse(value);
  if (!parsed.success || bytes.length !== roundUp(unpaddedLength(bytes), paddingStep))
    throw new PortalError("decryption_failed");
  return parsed.data;
}

function roundUp(length: number, step: number): number {
  return step * Math.max(1, Math.ceil(length / step));
}

function unpaddedLength(bytes: Uint8Array): number {
  let length = bytes.length;
  while (length > 0 && bytes[length - 1] === paddingByte) length--;
  return length;
}
