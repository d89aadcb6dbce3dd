import { hash } from "node:crypto";

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
 * Whether the protected header (JWE) of a sealed document has exactly these members
 * (docs/formats.md). The service cannot open the document, but refuses one that its own device
 * could never open.
 *
 * @param freeMembers names of members with any value
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
    return null; // not base64url, not JSON, not an object
  }
}

/** SHA-256 of the document as sent, in base64url. */
export function digestSealedDocument(jwe: string): string {
  return hash("sha256", jwe, "base64url");
}
