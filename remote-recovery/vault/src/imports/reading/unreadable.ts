import type { UnreadableFormat } from "@relicario/shared/contract";

/** Starts of unsupported files, as text with one byte per character. */
const beginnings: readonly (readonly [RegExp, UnreadableFormat])[] = [
  [/^SQLite format 3\0/, "database"],
  [/^PWS3/, "password_safe"],
  [/^-----BEGIN PGP MESSAGE/, "pgp"],
  [/^\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1/, "spreadsheet"],
  [/^\s*(?:<\?xml[^>]*>\s*)?<pwlist\b/, "keepass_xml_1"],
  [/^\s*(?:<\?xml[^>]*>\s*(?:<[?!][^>]*>\s*)*)?<passwordsafe\b/, "password_safe"],
  [/^\{[^\n]*"uuid"[^\n]*\}\s*\n\*\*\*5642bee8/, "onepassword_1pif"],
  [/^\{"vault_uuid"/, "enpass_vault"],
];

/** Identifies an unsupported file by its first bytes; null for others. */
export function findUnreadable(head: Uint8Array): UnreadableFormat | null {
  const text = String.fromCharCode(...head).replace(/^\xef\xbb\xbf/, "");
  return beginnings.find(([pattern]) => pattern.test(text))?.[1] ?? null;
}

/** Identifies an unsupported JSON file by its members. */
export function findUnreadableJson(root: unknown): UnreadableFormat | null {
  if (Array.isArray(root)) {
    const [first] = root as readonly unknown[];
    return hasMembers(first, "secret", "type", "label") || hasMembers(first, "secret", "algorithm") ? "andotp" : null;
  }
  if (hasMembers(root, "services", "schemaVersion") || hasMembers(root, "servicesEncrypted")) return "two_fas";
  return hasMembers(root, "AUTHENTIFIANT") ? "dashlane_json" : null;
}

/** Identifies an unsupported ZIP archive by its files. */
export function findUnreadableArchive(names: readonly string[]): UnreadableFormat | null {
  if (names.includes("xl/workbook.xml") || names.includes("content.xml")) return "spreadsheet";
  return names.some((name) => /\.1pif(?:\/|$)/.test(name)) ? "onepassword_1pif" : null;
}

function hasMembers(value: unknown, ...names: readonly string[]): boolean {
  return typeof value === "object" && value !== null && names.every((name) => Object.hasOwn(value, name));
}
