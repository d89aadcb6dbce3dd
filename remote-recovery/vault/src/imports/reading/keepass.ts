import { fromBase64url } from "@relicario/shared/api";
import { SaxesParser } from "saxes";

import { formatDay, firstNonEmpty } from "./item-values.ts";
import type { Field } from "./field.ts";
import { ItemCollector, type ImportEntry } from "./item-collector.ts";
import { maxAttachmentBytes, maxDepth } from "./limits.ts";
import { ImportRefusedError } from "./import-refused-error.ts";
import type { ImportTextKey, ImportTexts } from "./words.ts";

/** An element with what is in it. */
interface XmlElement {
  readonly name: string;
  readonly attributes: Readonly<Record<string, string>>;
  readonly children: XmlElement[];
  text: string;
}

const fieldNamesByKey: Readonly<Record<string, ImportTextKey>> = {
  UserName: "username",
  Password: "password",
  URL: "url",
};
/** Names under which KeePass programs keep seeds of one-time passwords. */
/** KeePassXC keeps a passkey as such strings. */
const passkeyPrefix = "KPEX_PASSKEY_";
const otpNames: ReadonlySet<string> = new Set(["otp", "TOTP Seed", "TimeOtp-Secret-Base32", "HmacOtp-Secret-Base32"]);

/** From the beginning of the year 1. */
const unixEpochOffsetSeconds = 62_135_596_800;

/**
 * KeePass 2 XML, unencrypted. What is in the recycle bin stays behind, and is named. @throws
 * Refused `damaged`, `unknown_format`.
 */
export async function readKeepass(text: string, texts: ImportTexts): Promise<ItemCollector> {
  const rootElement = parseXml(text);
  if (rootElement.name !== "KeePassFile") throw new ImportRefusedError("unknown_format");
  const meta = findChild(rootElement, "Meta");
  const recycleBinId = getChildText(meta, "RecycleBinUUID");
  const binaries = new Map(
    (findChild(meta, "Binaries")?.children ?? []).map((binary) => [binary.attributes["ID"] ?? "", binary]),
  );
  const collector = new ItemCollector("keepass_xml", texts);
  for (const group of findChildren(findChild(rootElement, "Root"), "Group"))
    await addGroup(collector, binaries, group, recycleBinId, []);
  return collector;
}

async function addGroup(
  collector: ItemCollector,
  binaries: ReadonlyMap<string, XmlElement>,
  group: XmlElement,
  recycleBinId: string,
  path: readonly string[],
): Promise<void> {
  const uuid = getChildText(group, "UUID");
  if (uuid !== "" && uuid === recycleBinId) {
    reportTrashed(collector, group);
    return;
  }
  const notes = getChildText(group, "Notes");
  if (notes.trim() !== "")
    collector.add({
      kind: "note",
      title: getChildText(group, "Name"),
      tags: path,
      fields: [],
      note: notes,
      otp: [],
      id: uuid || null,
      place: getChildText(group, "Name") || "?",
    });
  for (const entry of findChildren(group, "Entry")) await addEntry(collector, binaries, entry, path);
  for (const subgroup of findChildren(group, "Group"))
    // the outermost is the database itself
    await addGroup(collector, binaries, subgroup, recycleBinId, [...path, getChildText(subgroup, "Name")]);
}

async function addEntry(
  collector: ItemCollector,
  binaries: ReadonlyMap<string, XmlElement>,
  entry: XmlElement,
  path: readonly string[],
): Promise<void> {
  const strings = readStrings(entry);
  const history = findChildren(findChild(entry, "History"), "Entry").toReversed();
  const getStringValue = (key: string): string => strings.find((string) => string.key === key)?.value ?? "";
  const title = getStringValue("Title");
  const attachments: NonNullable<ImportEntry["attachments"]>[number][] = [];
  const seenFileKeys = new Set<string>();
  for (const attachment of [entry, ...history].flatMap((version) => findChildren(version, "Binary"))) {
    const [name, value] = [getChildText(attachment, "Key"), findChild(attachment, "Value")];
    const reference = value?.attributes["Ref"];
    const fileKey = JSON.stringify([name, reference ?? value?.text]);
    if (seenFileKeys.has(fileKey)) continue; // each version of an entry names its files again
    seenFileKeys.add(fileKey);
    const binary = reference === undefined ? value : binaries.get(reference);
    const content = binary === undefined ? null : await decodeBinary(binary);
    if (content === null) collector.addFailure(`${title}: ${name}`, binary === undefined ? "missing_file" : "damaged");
    else attachments.push({ name, content: new Blob([content]) });
  }
  collector.add({
    kind: "login",
    title,
    tags: [...path, ...getChildText(entry, "Tags").split(/[;,]/)],
    fields: [
      ...strings
        .filter(({ key }) => key !== "Title" && key !== "Notes" && !otpNames.has(key) && !key.startsWith(passkeyPrefix))
        .map(({ key, value }): Field => ({ name: fieldNamesByKey[key] ?? { own: key }, value })),
      ...toOtherFields(entry),
      ...toHistoryFields(strings, history),
    ],
    note: getStringValue("Notes"),
    otp: strings.filter(({ key }) => otpNames.has(key)).map(({ value }) => value),
    passkeys: strings.some(({ key }) => key.startsWith(passkeyPrefix))
      ? [[getStringValue(`${passkeyPrefix}RELYING_PARTY`), getStringValue(`${passkeyPrefix}USERNAME`)]]
      : [],
    id: getChildText(entry, "UUID") || null,
    place: title || "?",
    attachments,
    hasReportedFailure: attachments.length < seenFileKeys.size,
  });
}

function readStrings(entry: XmlElement): { readonly key: string; readonly value: string }[] {
  return findChildren(entry, "String").map((string) => ({
    key: getChildText(string, "Key"),
    value: getChildText(string, "Value"),
  }));
}

/** What an entry holds that is none of its strings. */
function toOtherFields(entry: XmlElement): Field[] {
  const [times, autoType] = [findChild(entry, "Times"), findChild(entry, "AutoType")];
  return [
    {
      name: "expiry",
      value:
        getChildText(times, "Expires").toLowerCase() === "true"
          ? formatDay(parseTime(getChildText(times, "ExpiryTime")))
          : null,
    },
    { name: { own: "OverrideURL" }, value: getChildText(entry, "OverrideURL") },
    { name: { own: "AutoType" }, value: getChildText(autoType, "DefaultSequence") },
    ...findChildren(autoType, "Association").map((association): Field => ({
      name: { own: "AutoType" },
      value: [getChildText(association, "Window"), getChildText(association, "KeystrokeSequence")]
        .filter((part) => part !== "")
        .join(": "),
    })),
    ...findChildren(findChild(entry, "CustomData"), "Item").map((customItem): Field => ({
      name: { own: getChildText(customItem, "Key") },
      value: getChildText(customItem, "Value"),
    })),
  ];
}

/**
 * Values that were replaced, the newest first, each once, with the time when its version was made.
 */
function toHistoryFields(strings: ReturnType<typeof readStrings>, history: readonly XmlElement[]): Field[] {
  const seenValueKeys = new Set(strings.map(({ key, value }) => JSON.stringify([key, value])));
  return history.flatMap((version) =>
    readStrings(version).flatMap(({ key, value }): Field[] => {
      const valueKey = JSON.stringify([key, value]);
      if (seenValueKeys.has(valueKey) || key.startsWith(passkeyPrefix)) return [];
      seenValueKeys.add(valueKey);
      return [
        {
          name: fieldNamesByKey[key] ?? (otpNames.has(key) ? "otp" : key === "Notes" ? "note" : { own: key }),
          value,
          former: parseTime(getChildText(findChild(version, "Times"), "LastModificationTime")),
        },
      ];
    }),
  );
}

/**
 * As text, or since version 4 as base64 of 64 bits of seconds since the year 1, little-endian. Null
 * when it is neither.
 */
function parseTime(text: string): string | number | null {
  if (text === "" || text.includes("-")) return text || null;
  try {
    const bytes = fromBase64url(text.replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, ""));
    return bytes.length === 8
      ? Number(new DataView(bytes.buffer, bytes.byteOffset).getBigUint64(0, true)) - unixEpochOffsetSeconds
      : null;
  } catch {
    return null; // no base64 either: the time is not known
  }
}

/** Entries of the recycle bin, of all groups in it. */
function reportTrashed(collector: ItemCollector, group: XmlElement): void {
  for (const entry of findChildren(group, "Entry"))
    collector.addFailure(
      firstNonEmpty(readStrings(entry).find(({ key }) => key === "Title")?.value) ?? "?",
      "in_trash",
    );
  for (const subgroup of findChildren(group, "Group")) reportTrashed(collector, subgroup);
}

/** base64, perhaps packed; null when it is not, or unpacks to too much. */
async function decodeBinary({ text, attributes }: XmlElement): Promise<Uint8Array<ArrayBuffer> | null> {
  let bytes: Uint8Array<ArrayBuffer>;
  try {
    bytes = fromBase64url(text.replace(/\s+/g, "").replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, ""));
  } catch {
    return null; // no base64: said of this attachment alone
  }
  if (attributes["Compressed"]?.toLowerCase() !== "true") return bytes;
  const chunks: Uint8Array<ArrayBuffer>[] = [];
  let size = 0;
  try {
    for await (const chunk of new Blob([bytes])
      .stream()
      .pipeThrough(new DecompressionStream("gzip")) as unknown as AsyncIterable<Uint8Array<ArrayBuffer>>) {
      size += chunk.length;
      if (size > maxAttachmentBytes) return null;
      chunks.push(chunk);
    }
  } catch {
    return null; // as above
  }
  return new Uint8Array(await new Blob(chunks).arrayBuffer());
}

/**
 * A document without a DTD: no entity is defined, and nothing outside is named. @throws Refused
 * `damaged`.
 */
function parseXml(text: string): XmlElement {
  const parser = new SaxesParser();
  const root: XmlElement = { name: "", attributes: {}, children: [], text: "" };
  const openElements = [root];
  const currentElement = (): XmlElement => openElements[openElements.length - 1] ?? root;
  const fail = (cause?: unknown): never => {
    throw new ImportRefusedError("damaged", { cause });
  };
  parser.on("error", fail);
  parser.on("doctype", () => fail());
  parser.on("opentag", ({ name, attributes }) => {
    if (openElements.length > maxDepth) fail();
    const element: XmlElement = { name, attributes, children: [], text: "" };
    currentElement().children.push(element);
    openElements.push(element);
  });
  parser.on("closetag", () => void openElements.pop());
  parser.on("text", (chunk) => void (currentElement().text += chunk));
  parser.on("cdata", (chunk) => void (currentElement().text += chunk));
  parser.write(text).close();
  return root.children[0] ?? fail();
}

function findChild(element: XmlElement | undefined, name: string): XmlElement | undefined {
  return element?.children.find((candidate) => candidate.name === name);
}

function findChildren(element: XmlElement | undefined, name: string): XmlElement[] {
  return element?.children.filter((candidate) => candidate.name === name) ?? [];
}

function getChildText(element: XmlElement | undefined, name: string): string {
  return findChild(element, name)?.text ?? "";
}
