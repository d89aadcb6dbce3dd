import { base32, base64 } from "@scure/base";

import type { Field } from "./field.ts";
import type { ImportTextKey } from "./import-texts.ts";
import { formatDay } from "./item-values.ts";
import type { Members } from "./members.ts";
import { formatOtpAddress } from "./otp-address.ts";
import { findChild, findChildren, getChildText, takeChildText, type XmlElement } from "./xml.ts";

const fieldNamesByKey: ReadonlyMap<string, ImportTextKey> = new Map([
  ["UserName", "username"],
  ["Password", "password"],
  ["URL", "url"],
  ["Notes", "note"],
  ["otp", "otp"],
  ["TOTP Seed", "otp"],
  ["TimeOtp-Secret-Base32", "otp"],
  ["HmacOtp-Secret-Base32", "otp"],
]);

/** Turns a string of an entry into a field. */
export function toStringField(key: string, value: string): Field {
  return { name: fieldNamesByKey.get(key) ?? { own: key }, value };
}

/** Seconds from the year 1 to 1970. */
const unixEpochOffsetSeconds = 62_135_596_800;

/**
 * Parses a time: text or, since version 4, base64 of a little-endian 64-bit number of seconds since
 * the year 1. Null if neither.
 */
export function parseTime(text: string): string | number | null {
  if (text === "" || text.includes("-")) return text || null;
  const bytes = decodeBase64(text);
  return bytes?.length === 8
    ? Number(new DataView(bytes.buffer, bytes.byteOffset).getBigUint64(0, true)) - unixEpochOffsetSeconds
    : null;
}

/** Decodes base64, even with white space or without padding. Null if it is not base64. */
export function decodeBase64(text: string): Uint8Array<ArrayBuffer> | null {
  const compact = text.replace(/[\s=]+/g, "");
  try {
    return new Uint8Array(base64.decode(compact.padEnd(Math.ceil(compact.length / 4) * 4, "=")));
  } catch {
    return null; // the caller reports the failure
  }
}

/**
 * Takes the seeds of one-time passwords that KeePass and its plugins store. Returns a seed with
 * default settings unchanged, and an `otpauth:` URL for any other.
 */
export function takeOtp(strings: Members, title: string | null, account: string | null): string[] {
  const address = (settings: Omit<Parameters<typeof formatOtpAddress>[0], "issuer" | "account">): string =>
    formatOtpAddress({ ...settings, issuer: title, account });
  const otp = strings.texts("otp").map((text) => {
    const parameters = /^(?!\w+:)(?=.*\bkey=)/i.test(text) ? new URLSearchParams(text) : null; // KeeOtp's format
    return parameters === null
      ? text
      : address({
          kind: parameters.get("type")?.toLowerCase() === "hotp" ? "hotp" : "totp",
          secret: parameters.get("key") ?? "",
          digits: parameters.get("size"),
          period: parameters.get("step"),
          algorithm: parameters.get("otpHashMode")?.toUpperCase() ?? null,
          counter: parameters.get("counter"),
        });
  });
  const [period, digits] = /^(\d+);(\d+|S)/.exec(peekText(strings, "TOTP Settings"))?.slice(1) ?? [];
  for (const seed of strings.texts("TOTP Seed")) {
    if (period === undefined || (period === "30" && digits === "6")) otp.push(seed);
    else if (digits === "S") otp.push(address({ kind: "totp", secret: seed, encoder: "steam", digits: 5 }));
    else otp.push(address({ kind: "totp", secret: seed, period, digits: digits ?? null }));
  }
  if (otp.length > 0 && /^\d+;(?:\d+|S)$/.test(peekText(strings, "TOTP Settings"))) strings.text("TOTP Settings");
  for (const [prefix, kind] of [
    ["TimeOtp", "totp"],
    ["HmacOtp", "hotp"],
  ] as const) {
    const secrets = (["", "-Hex", "-Base32", "-Base64"] as const).flatMap((encoding) =>
      strings.texts(`${prefix}-Secret${encoding}`).map((text) => toBase32(encoding, text)),
    );
    if (secrets.length === 0) continue;
    const settings = {
      algorithm: strings.text(`${prefix}-Algorithm`)?.replace(/^HMAC-SHA-?/i, "SHA") ?? null,
      digits: strings.text(`${prefix}-Length`),
      period: strings.text(`${prefix}-Period`),
      counter: strings.text(`${prefix}-Counter`),
    };
    const isUsual = Object.values(settings).every((setting) => setting === null) && kind === "totp";
    otp.push(...secrets.map((secret) => (isUsual ? secret : address({ kind, secret, ...settings }))));
  }
  return otp;
}

function peekText(strings: Members, key: string): string {
  const value = strings.peek().find(({ name }) => name === key)?.value;
  return typeof value === "string" ? value : "";
}

/** Returns the text unchanged if it cannot be decoded. */
function toBase32(encoding: "" | "-Hex" | "-Base32" | "-Base64", text: string): string {
  if (encoding === "-Base32") return text;
  const compact = text.replace(/\s/g, "");
  const bytes =
    encoding === ""
      ? new TextEncoder().encode(text)
      : encoding === "-Base64"
        ? decodeBase64(text)
        : /^(?:[\da-f]{2})+$/i.test(compact)
          ? new Uint8Array((compact.match(/../g) ?? []).map((digits) => parseInt(digits, 16)))
          : null;
  return bytes === null ? text : base32.encode(bytes).replace(/=+$/, "");
}

/** Elements of an entry or a group that KeePass writes for its own use. */
const ownElements: readonly string[] = [
  ...["UUID", "IconID", "CustomIconUUID", "ForegroundColor", "BackgroundColor", "QualityCheck", "PreviousParentGroup"],
  ...["IsExpanded", "EnableAutoType", "EnableSearching", "LastTopVisibleEntry", "DataTransferObfuscation", "Enabled"],
  ...[
    "CreationTime",
    "LastModificationTime",
    "LastAccessTime",
    "LocationChanged",
    "UsageCount",
    "Expires",
    "ExpiryTime",
  ],
];

/**
 * The fields of an entry or a group outside its strings, including everything that was not taken
 * yet.
 *
 * @param leftOut collects the names of elements for KeePass's own use
 */
export function toOtherFields(element: XmlElement, leftOut: Set<string>): Field[] {
  const [times, autoType] = [findChild(element, "Times"), findChild(element, "AutoType")];
  return [
    {
      name: "expiry",
      value:
        getChildText(times, "Expires").toLowerCase() === "true"
          ? formatDay(parseTime(takeChildText(times, "ExpiryTime")))
          : null,
    },
    { name: { own: "OverrideURL" }, value: takeChildText(element, "OverrideURL") },
    { name: { own: "AutoType" }, value: takeChildText(autoType, "DefaultSequence") },
    ...findChildren(autoType, "Association").map((association): Field => ({
      name: { own: "AutoType" },
      value: [takeChildText(association, "Window"), takeChildText(association, "KeystrokeSequence")]
        .filter((part) => part !== "")
        .join(": "),
    })),
    ...findChildren(findChild(element, "CustomData"), "Item").map((customItem): Field => {
      const [key, value] = [takeChildText(customItem, "Key"), takeChildText(customItem, "Value")];
      return value === "" ? { name: { own: "…" }, value: key } : { name: { own: key }, value };
    }),
    ...element.children.flatMap((child) =>
      child.name === "Entry" || child.name === "Group" ? [] : toElementFields(child, [], leftOut),
    ),
  ];
}

/** The remaining texts of an element and its children, known or unknown. */
export function toElementFields(element: XmlElement, sections: readonly string[], leftOut: Set<string>): Field[] {
  const { name, text, children, isTaken } = element;
  if (ownElements.includes(name) && children.length === 0) {
    if (text.trim() !== "") leftOut.add(name);
    return [];
  }
  const isHistory = name === "History" && sections.length === 0;
  return [
    { name: { own: name }, value: isTaken ? null : text.trim(), ...(sections.length > 0 ? { sections } : {}) },
    // former versions of the entry are read separately
    ...children.flatMap((child) =>
      isHistory && child.name === "Entry" ? [] : toElementFields(child, [...sections, name], leftOut),
    ),
  ];
}
