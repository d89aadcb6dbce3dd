import { fromB64u } from "@relicario/shared/api";
import { SaxesParser } from "saxes";

import { dayOf, firstOf } from "./facts.ts";
import type { Field } from "./field.ts";
import { Items, type Entry } from "./items.ts";
import { maxAttachmentBytes, maxDepth } from "./limits.ts";
import { Refused } from "./refused.ts";
import type { Word, Words } from "./words.ts";

/** An element with what is in it. */
interface Element {
  readonly name: string;
  readonly attributes: Readonly<Record<string, string>>;
  readonly children: Element[];
  text: string;
}

const known: Readonly<Record<string, Word>> = { UserName: "username", Password: "password", URL: "url" };
/** Names under which KeePass programs keep seeds of one-time passwords. */
/** KeePassXC keeps a passkey as such strings. */
const ofPasskey = "KPEX_PASSKEY_";
const otpNames: ReadonlySet<string> = new Set(["otp", "TOTP Seed", "TimeOtp-Secret-Base32", "HmacOtp-Secret-Base32"]);

/** From the beginning of the year 1. */
const secondsToYear1970 = 62_135_596_800;

/**
 * KeePass 2 XML, unencrypted. What is in the recycle bin stays behind, and is named. @throws
 * Refused `damaged`, `unknown_format`.
 */
export async function readKeepass(text: string, words: Words): Promise<Items> {
  const file = parse(text);
  if (file.name !== "KeePassFile") throw new Refused("unknown_format");
  const meta = child(file, "Meta");
  const bin = childText(meta, "RecycleBinUUID");
  const binaries = new Map((child(meta, "Binaries")?.children ?? []).map((one) => [one.attributes["ID"] ?? "", one]));
  const items = new Items("keepass_xml", words);
  for (const group of childrenOf(child(file, "Root"), "Group")) await addGroup(items, binaries, group, bin, []);
  return items;
}

async function addGroup(
  items: Items,
  binaries: ReadonlyMap<string, Element>,
  group: Element,
  bin: string,
  path: readonly string[],
): Promise<void> {
  const uuid = childText(group, "UUID");
  if (uuid !== "" && uuid === bin) {
    nameTrashed(items, group);
    return;
  }
  const notes = childText(group, "Notes");
  if (notes.trim() !== "")
    items.add({
      kind: "note",
      title: childText(group, "Name"),
      tags: path,
      fields: [],
      note: notes,
      otp: [],
      id: uuid || null,
      place: childText(group, "Name") || "?",
    });
  for (const entry of childrenOf(group, "Entry")) await addEntry(items, binaries, entry, path);
  for (const inner of childrenOf(group, "Group"))
    // the outermost is the database itself
    await addGroup(items, binaries, inner, bin, [...path, childText(inner, "Name")]);
}

async function addEntry(
  items: Items,
  binaries: ReadonlyMap<string, Element>,
  entry: Element,
  path: readonly string[],
): Promise<void> {
  const strings = stringsOf(entry);
  const history = childrenOf(child(entry, "History"), "Entry").toReversed();
  const of = (key: string): string => strings.find((one) => one.key === key)?.value ?? "";
  const title = of("Title");
  const attachments: NonNullable<Entry["attachments"]>[number][] = [];
  const there = new Set<string>();
  for (const one of [entry, ...history].flatMap((each) => childrenOf(each, "Binary"))) {
    const [name, value] = [childText(one, "Key"), child(one, "Value")];
    const reference = value?.attributes["Ref"];
    const which = JSON.stringify([name, reference ?? value?.text]);
    if (there.has(which)) continue; // each version of an entry names its files again
    there.add(which);
    const binary = reference === undefined ? value : binaries.get(reference);
    const content = binary === undefined ? null : await bytesOf(binary);
    if (content === null) items.fail(`${title}: ${name}`, binary === undefined ? "missing_file" : "damaged");
    else attachments.push({ name, content: new Blob([content]) });
  }
  items.add({
    kind: "login",
    title,
    tags: [...path, ...childText(entry, "Tags").split(/[;,]/)],
    fields: [
      ...strings
        .filter(({ key }) => key !== "Title" && key !== "Notes" && !otpNames.has(key) && !key.startsWith(ofPasskey))
        .map(({ key, value }): Field => ({ name: known[key] ?? { own: key }, value })),
      ...besideStrings(entry),
      ...formerStrings(strings, history),
    ],
    note: of("Notes"),
    otp: strings.filter(({ key }) => otpNames.has(key)).map(({ value }) => value),
    passkeys: strings.some(({ key }) => key.startsWith(ofPasskey))
      ? [[of(`${ofPasskey}RELYING_PARTY`), of(`${ofPasskey}USERNAME`)]]
      : [],
    id: childText(entry, "UUID") || null,
    place: title || "?",
    attachments,
    hasFailed: attachments.length < there.size,
  });
}

function stringsOf(entry: Element): { readonly key: string; readonly value: string }[] {
  return childrenOf(entry, "String").map((one) => ({ key: childText(one, "Key"), value: childText(one, "Value") }));
}

/** What an entry holds that is none of its strings. */
function besideStrings(entry: Element): Field[] {
  const [times, typing] = [child(entry, "Times"), child(entry, "AutoType")];
  return [
    {
      name: "expiry",
      value:
        childText(times, "Expires").toLowerCase() === "true" ? dayOf(timeOf(childText(times, "ExpiryTime"))) : null,
    },
    { name: { own: "OverrideURL" }, value: childText(entry, "OverrideURL") },
    { name: { own: "AutoType" }, value: childText(typing, "DefaultSequence") },
    ...childrenOf(typing, "Association").map((one): Field => ({
      name: { own: "AutoType" },
      value: [childText(one, "Window"), childText(one, "KeystrokeSequence")].filter((part) => part !== "").join(": "),
    })),
    ...childrenOf(child(entry, "CustomData"), "Item").map((one): Field => ({
      name: { own: childText(one, "Key") },
      value: childText(one, "Value"),
    })),
  ];
}

/**
 * Values that were replaced, the newest first, each once, with the time when its version was made.
 */
function formerStrings(strings: ReturnType<typeof stringsOf>, history: readonly Element[]): Field[] {
  const there = new Set(strings.map(({ key, value }) => JSON.stringify([key, value])));
  return history.flatMap((version) =>
    stringsOf(version).flatMap(({ key, value }): Field[] => {
      const which = JSON.stringify([key, value]);
      if (there.has(which) || key.startsWith(ofPasskey)) return [];
      there.add(which);
      return [
        {
          name: known[key] ?? (otpNames.has(key) ? "otp" : key === "Notes" ? "note" : { own: key }),
          value,
          former: timeOf(childText(child(version, "Times"), "LastModificationTime")),
        },
      ];
    }),
  );
}

/**
 * As text, or since version 4 as base64 of 64 bits of seconds since the year 1, little-endian. Null
 * when it is neither.
 */
function timeOf(text: string): string | number | null {
  if (text === "" || text.includes("-")) return text || null;
  try {
    const bytes = fromB64u(text.replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, ""));
    return bytes.length === 8
      ? Number(new DataView(bytes.buffer, bytes.byteOffset).getBigUint64(0, true)) - secondsToYear1970
      : null;
  } catch {
    return null; // no base64 either: the time is not known
  }
}

/** Entries of the recycle bin, of all groups in it. */
function nameTrashed(items: Items, group: Element): void {
  for (const entry of childrenOf(group, "Entry"))
    items.fail(firstOf(stringsOf(entry).find(({ key }) => key === "Title")?.value) ?? "?", "in_trash");
  for (const inner of childrenOf(group, "Group")) nameTrashed(items, inner);
}

/** base64, perhaps packed; null when it is not, or unpacks to too much. */
async function bytesOf({ text, attributes }: Element): Promise<Uint8Array<ArrayBuffer> | null> {
  let bytes: Uint8Array<ArrayBuffer>;
  try {
    bytes = fromB64u(text.replace(/\s+/g, "").replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, ""));
  } catch {
    return null; // no base64: said of this attachment alone
  }
  if (attributes["Compressed"]?.toLowerCase() !== "true") return bytes;
  const pieces: Uint8Array<ArrayBuffer>[] = [];
  let size = 0;
  try {
    for await (const piece of new Blob([bytes])
      .stream()
      .pipeThrough(new DecompressionStream("gzip")) as unknown as AsyncIterable<Uint8Array<ArrayBuffer>>) {
      size += piece.length;
      if (size > maxAttachmentBytes) return null;
      pieces.push(piece);
    }
  } catch {
    return null; // as above
  }
  return new Uint8Array(await new Blob(pieces).arrayBuffer());
}

/**
 * A document without a DTD: no entity is defined, and nothing outside is named. @throws Refused
 * `damaged`.
 */
function parse(text: string): Element {
  const parser = new SaxesParser();
  const top: Element = { name: "", attributes: {}, children: [], text: "" };
  const open = [top];
  const now = (): Element => open[open.length - 1] ?? top;
  const stop = (cause?: unknown): never => {
    throw new Refused("damaged", { cause });
  };
  parser.on("error", stop);
  parser.on("doctype", () => stop());
  parser.on("opentag", ({ name, attributes }) => {
    if (open.length > maxDepth) stop();
    const element: Element = { name, attributes, children: [], text: "" };
    now().children.push(element);
    open.push(element);
  });
  parser.on("closetag", () => void open.pop());
  parser.on("text", (more) => void (now().text += more));
  parser.on("cdata", (more) => void (now().text += more));
  parser.write(text).close();
  return top.children[0] ?? stop();
}

function child(element: Element | undefined, name: string): Element | undefined {
  return element?.children.find((one) => one.name === name);
}

function childrenOf(element: Element | undefined, name: string): Element[] {
  return element?.children.filter((one) => one.name === name) ?? [];
}

function childText(element: Element | undefined, name: string): string {
  return child(element, name)?.text ?? "";
}
