import { createHash } from "node:crypto";

import { fromBase64url } from "@relicario/shared/api";
import { z } from "zod";

const Header = z.record(z.string(), z.unknown());

export interface ExpectedHeader {
  readonly typ: "relicario-label" | "relicario-book" | "relicario-state" | "relicario-shares" | "relicario-requests";
  readonly user_id: string;
  readonly key_epoch: number;
  readonly [member: string]: string | number | null;
}

/**
 * Whether the protected header of a sealed document says exactly what it should, member by member
 * (sealing.md, JWE). The service cannot open it; it refuses one that its own device could never
 * open again. A member whose expected value is undefined may have any.
 */
export function hasExpectedHeader(jwe: string, expected: ExpectedHeader, freeMembers: readonly string[] = []): boolean {
  const header = parseHeader(jwe);
  if (header === null) return false;
  const requiredMembers: Record<string, unknown> = { alg: "dir", enc: "A256GCM", ...expected };
  const names = Object.keys(requiredMembers);
  return (
    Object.keys(header).length === names.length + freeMembers.length &&
    names.every((name) => Object.hasOwn(header, name) && header[name] === requiredMembers[name]) &&
    freeMembers.every((name) => Object.hasOwn(header, name))
  );
}

function parseHeader(jwe: string): Record<string, unknown> | null {
  try {
    return Header.parse(JSON.parse(Buffer.from(fromBase64url(jwe.slice(0, jwe.indexOf(".")))).toString("utf8")));
  } catch {
    return null; // not base64url, not JSON, not an object: not a header
  }
}

/** Digest of a sealed document, base64url: over its bytes as sent. */
export function digestSealedDocument(jwe: string): string {
  return createHash("sha256").update(jwe, "ascii").digest("base64url");
}
