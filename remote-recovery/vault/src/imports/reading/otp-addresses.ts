import { base32 } from "@scure/base";

import { ItemCollector } from "./item-collector.ts";
import type { ImportTexts } from "./import-texts.ts";
import { decodeBase64 } from "./keepass-fields.ts";
import { formatOtpAddress, type OtpSettings } from "./otp-address.ts";

const [migrationPrefix, maxAccounts] = ["otpauth-migration://", 10_000];

/** Whether a text starts with an `otpauth:` URL, or with an export of Google Authenticator. */
export function isOtpAddresses(text: string): boolean {
  return /^\s*otpauth(?:-migration)?:\/\//i.test(text);
}

/** Reads one `otpauth:` URL per line. Keeps any other line as a note. */
export function readOtpAddresses(text: string, texts: ImportTexts): ItemCollector {
  const collector = new ItemCollector("otp_addresses", texts);
  const readParts = new Map<string, { readonly size: number; readonly numbers: Set<number> }>();
  for (const [index, line] of text.split(/\r\n|\n|\r/).entries()) {
    const address = line.trim();
    if (address === "") continue;
    const location = String(index + 1);
    if (address.toLowerCase().startsWith(migrationPrefix)) readMigration(collector, address, location, readParts);
    else if (/^otpauth:\/\//i.test(address)) addSeed(collector, address, readLabel(address), location);
    else collector.add({ kind: "note", title: null, tags: [], fields: [], note: line, otp: [], id: null, location });
  }
  for (const { size, numbers } of readParts.values())
    for (let number = 0; number < size; number++)
      if (!numbers.has(number)) collector.addFailure(`${String(number + 1)}/${String(size)}`, "missing_file");
  return collector;
}

function addSeed(collector: ItemCollector, address: string, title: string, location: string): void {
  collector.add({ kind: "login", title, tags: [], fields: [], note: null, otp: [address], id: null, location });
}

function readLabel(address: string): string {
  const label = /^otpauth:\/\/\w+\/([^?]*)/i.exec(address)?.[1] ?? "";
  try {
    return decodeURIComponent(label).replace(/^([^:]+):\s*/, "$1: ");
  } catch {
    return label; // the label is not encoded correctly
  }
}

/**
 * Reads Google Authenticator's export: base64 of a protocol buffer with an account in each field 1.
 */
function readMigration(
  collector: ItemCollector,
  address: string,
  location: string,
  readParts: Map<string, { readonly size: number; readonly numbers: Set<number> }>,
): void {
  const data = /[?&]data=([^&#]*)/.exec(address)?.[1] ?? "";
  const payload = readMessage(decodeBase64(safeDecode(data).replaceAll(" ", "+")));
  if (payload === null) {
    collector.addFailure(location, "damaged");
    return;
  }
  const numbersOf = (field: number): number[] =>
    payload.flatMap((entry) => (entry.field === field ? [entry.number] : []));
  const [size = 1, number = 0, batchId = 0] = [numbersOf(3)[0], numbersOf(4)[0], numbersOf(5)[0]];
  const part = readParts.get(String(batchId)) ?? { size: Math.min(size, maxAccounts), numbers: new Set<number>() };
  part.numbers.add(number);
  readParts.set(String(batchId), part);
  for (const [index, { field, bytes }] of payload.entries()) {
    if (field !== 1) continue;
    const settings = readAccount(bytes);
    if (settings === null) collector.addFailure(`${location}, ${String(index + 1)}`, "damaged");
    else {
      const title = [settings.issuer, settings.account].filter((text) => text !== "").join(": ");
      addSeed(collector, formatOtpAddress(settings), title, location);
    }
  }
}

const algorithms = ["SHA1", "SHA1", "SHA256", "SHA512", "MD5"] as const;

function readAccount(bytes: Uint8Array): OtpSettings | null {
  const message = readMessage(bytes);
  if (message === null) return null;
  const find = (field: number) => message.find((entry) => entry.field === field);
  const secret = find(1)?.bytes;
  if (secret === undefined) return null;
  const decode = (field: number): string => new TextDecoder().decode(find(field)?.bytes);
  const [name, issuer, isCounter] = [decode(2), decode(3), find(6)?.number === 1];
  return {
    kind: isCounter ? "hotp" : "totp",
    secret: base32.encode(secret),
    issuer,
    account: issuer !== "" && name.startsWith(`${issuer}:`) ? name.slice(issuer.length + 1).trim() : name,
    algorithm: algorithms[find(4)?.number ?? 0] ?? null,
    digits: find(5)?.number === 2 ? 8 : 6,
    ...(isCounter ? { counter: find(7)?.number ?? 0 } : {}),
  };
}

interface MessageEntry {
  readonly field: number;
  /** Value of a number field, else 0. */
  readonly number: number;
  /** Value of a field with a length, else empty. */
  readonly bytes: Uint8Array;
}

/** Reads the fields of a protocol buffer; null if the bytes are invalid. */
function readMessage(bytes: Uint8Array | null): MessageEntry[] | null {
  if (bytes === null) return null;
  const entries: MessageEntry[] = [];
  let position = 0;
  const readNumber = (): number => {
    let [value, factor] = [0, 1];
    for (; position < bytes.length; factor *= 128) {
      const byte = bytes[position++] ?? 0;
      value += (byte & 0x7f) * factor;
      if (byte < 0x80) return value;
    }
    return NaN;
  };
  while (position < bytes.length) {
    const tag = readNumber();
    const [field, wireType] = [Math.floor(tag / 8), tag % 8];
    if (wireType === 0) entries.push({ field, number: readNumber(), bytes: new Uint8Array() });
    else if (wireType === 2) {
      const length = readNumber();
      if (!(length <= bytes.length - position)) return null;
      entries.push({ field, number: 0, bytes: bytes.subarray(position, position + length) });
      position += length;
    } else return null;
    if (entries.length > maxAccounts || Number.isNaN(entries.at(-1)?.number)) return null;
  }
  return entries.length === 0 ? null : entries;
}

function safeDecode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text; // the text is not encoded correctly
  }
}
