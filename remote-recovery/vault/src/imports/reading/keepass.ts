import type { Field } from "./field.ts";
import { ItemCollector, type ImportEntry } from "./item-collector.ts";
import { ImportRefusedError } from "./import-refused-error.ts";
import type { ImportTexts } from "./import-texts.ts";
import { firstNonEmpty } from "./item-values.ts";
import { decodeBase64, parseTime, takeOtp, toElementFields, toOtherFields, toStringField } from "./keepass-fields.ts";
import { ReferenceResolver } from "./keepass-references.ts";
import { maxAttachmentBytes } from "./limits.ts";
import { Members } from "./members.ts";
import { findChild, findChildren, getChildText, takeChildText, type XmlElement } from "./xml.ts";
import { readGzip } from "./gzip.ts";

const standardKeys: ReadonlySet<string> = new Set(["Title", "UserName", "Password", "URL", "Notes"]);

/** Prefix of the strings in which KeePassXC stores a passkey. */
const passkeyPrefix = "KPEX_PASSKEY_";

/** Reads an attachment by its number; null if it is damaged, undefined if it is missing. */
type ReadBinary = (reference: string) => Promise<Uint8Array<ArrayBuffer> | null | undefined>;

interface KeepassFile {
  readonly collector: ItemCollector;
  readonly readBinary: ReadBinary;
  readonly references: ReferenceResolver;
  readonly recycleBinId: string;
}

/**
 * Reads KeePass 2 XML from a file or a database. Reports the entries in the recycle bin instead of
 * reading them.
 *
 * @param binaries attachments that a database stores outside the XML
 * @throws ImportRefusedError `unknown_format`
 */
export async function readKeepass(
  document: XmlElement,
  texts: ImportTexts,
  binaries: readonly Uint8Array<ArrayBuffer>[] = [],
): Promise<ItemCollector> {
  if (document.name !== "KeePassFile") throw new ImportRefusedError("unknown_format");
  const meta = findChild(document, "Meta");
  const collector = new ItemCollector("keepass_xml", texts);
  const elements = new Map(
    (findChild(meta, "Binaries")?.children ?? []).map((binary) => [binary.attributes.get("ID") ?? "", binary]),
  );
  const groups = findChildren(findChild(document, "Root"), "Group");
  const file: KeepassFile = {
    collector,
    references: new ReferenceResolver(groups),
    recycleBinId: getChildText(meta, "RecycleBinUUID"),
    readBinary: async (reference) => {
      const element = elements.get(reference);
      return element === undefined ? binaries[Number(reference)] : decodeBinary(element);
    },
  };
  addDatabase(collector, meta);
  for (const group of groups) await addGroup(file, group, null);
  return collector;
}

/** Settings, and elements for KeePass's own use. */
const ownMembers =
  /^(?:Generator|HeaderHash|\w+Changed|Maintenance\w+|Color|MasterKey\w+|MemoryProtection|CustomIcons|CustomData|RecycleBin\w+|EntryTemplates\w+|HistoryMax\w+|Last\w+Group|Binaries)$/;

/** Adds a note with the name, the description and other texts of the database. */
function addDatabase(collector: ItemCollector, meta: XmlElement | undefined): void {
  const [title, description] = [takeChildText(meta, "DatabaseName"), takeChildText(meta, "DatabaseDescription")];
  const own = meta?.children.filter(({ name }) => ownMembers.test(name)) ?? [];
  for (const { name, children } of own) if (name.startsWith("Custom") && children.length > 0) collector.leaveOut(name);
  const fields: Field[] = [
    { name: "username", value: takeChildText(meta, "DefaultUserName") },
    { name: { own: "Meta" }, value: meta?.text.trim() },
    ...(meta?.children ?? []).flatMap((child) =>
      own.includes(child) ? [] : toElementFields(child, [], collector.leftOut),
    ),
  ];
  if (description.trim() === "" && fields.every(({ value }) => (value ?? "").trim() === ""))
    collector.leaveOut(title === "" ? null : "DatabaseName");
  else
    collector.add({
      kind: "note",
      title,
      tags: [],
      fields,
      note: description,
      otp: [],
      id: "database",
      location: title || "?",
    });
}

/** @param path groups that contain this one; null for the outermost group, which is the database */
async function addGroup(file: KeepassFile, group: XmlElement, path: readonly string[] | null): Promise<void> {
  const { collector, recycleBinId } = file;
  const [uuid, name] = [getChildText(group, "UUID"), takeChildText(group, "Name")];
  if (uuid !== "" && uuid === recycleBinId) {
    reportTrashed(collector, group);
    return;
  }
  const groupPath = path === null ? [] : [...path, name];
  const [entries, subgroups] = [findChildren(group, "Entry"), findChildren(group, "Group")];
  const [notes, tags] = [takeChildText(group, "Notes"), takeChildText(group, "Tags")];
  const fields = toOtherFields(group, collector.leftOut);
  const hasText = notes.trim() !== "" || fields.some(({ value }) => value?.trim()) || tags.trim() !== "";
  if (hasText)
    collector.add({
      kind: "note",
      title: name,
      tags: groupPath,
      fields: [...fields, { name: "tags", value: tags }],
      note: notes,
      otp: [],
      id: uuid || null,
      location: name || "?",
    });
  else if (path !== null && entries.length + subgroups.length === 0)
    collector.addFailure(groupPath.join(" / "), "empty");
  for (const entry of entries) await addEntry(file, entry, groupPath);
  for (const subgroup of subgroups) await addGroup(file, subgroup, groupPath);
}

async function addEntry(file: KeepassFile, entry: XmlElement, path: readonly string[]): Promise<void> {
  const { collector, references } = file;
  const history = findChildren(findChild(entry, "History"), "Entry").toReversed();
  const allStrings = readStrings(collector, entry);
  const title = allStrings.find(({ key }) => key === "Title")?.value ?? "";
  const unresolvedKeys = new Set<string>();
  const resolvedStrings = allStrings.map(({ key, value }) => ({
    key,
    value: references.resolve(value, () => unresolvedKeys.add(key)),
  }));
  for (const key of unresolvedKeys) collector.addFailure(`${title || "?"}: ${key}`, "unresolved_reference");
  const strings = new Members(
    resolvedStrings.map(({ key, value }) => ({ name: key, label: key, value })),
    collector.leftOut,
  );
  const [entryTitle, ...otherTitles] = strings.texts("Title");
  const notes = strings.texts("Notes");
  const userName = resolvedStrings.find(({ key }) => key === "UserName")?.value ?? null;
  const otp = takeOtp(strings, entryTitle ?? null, userName);
  const passkeyParts = strings.takeWhere(({ name }) => name.startsWith(passkeyPrefix));
  const getPasskeyPart = (name: string): string | null => {
    const value = passkeyParts.find((part) => part.name === passkeyPrefix + name)?.value;
    return typeof value === "string" ? value : null;
  };
  const tags = takeChildText(entry, "Tags").split(/[;,]/);
  const { attachments, count } = await readAttachments(file, title, [entry, ...history]);
  const otherFields = toOtherFields(entry, collector.leftOut);
  collector.add({
    kind: "login",
    title: entryTitle ?? "",
    tags: [...path, ...tags],
    fields: [
      ...strings.takeAll().map(({ name, value }) => toStringField(name, String(value))),
      ...otherTitles.map((value) => toStringField("Title", value)),
      ...otherFields,
      ...toHistoryFields(file, [...allStrings, ...resolvedStrings], otherFields, tags, history),
    ],
    note: notes.join("\n\n"),
    otp,
    passkeys: passkeyParts.length > 0 ? [[getPasskeyPart("RELYING_PARTY"), getPasskeyPart("USERNAME")]] : [],
    id: getChildText(entry, "UUID") || null,
    location: title || "?",
    attachments,
    hasReportedFailure: attachments.length < count,
  });
}

/**
 * Reads the attachments of all versions, each once, because every version lists its files again.
 */
async function readAttachments(
  { collector, readBinary }: KeepassFile,
  title: string,
  versions: readonly XmlElement[],
): Promise<{ readonly attachments: NonNullable<ImportEntry["attachments"]>; readonly count: number }> {
  const attachments: NonNullable<ImportEntry["attachments"]>[number][] = [];
  const seenFileKeys = new Set<string>();
  for (const attachment of versions.flatMap((version) => findChildren(version, "Binary"))) {
    const [name, value] = [takeChildText(attachment, "Key"), findChild(attachment, "Value")];
    if (value !== undefined) value.isTaken = true;
    const reference = value?.attributes.get("Ref");
    const fileKey = JSON.stringify([name, reference ?? value?.text]);
    if (seenFileKeys.has(fileKey)) continue;
    seenFileKeys.add(fileKey);
    const content =
      reference !== undefined
        ? await readBinary(reference)
        : value === undefined
          ? undefined
          : await decodeBinary(value);
    if (content == null) collector.addFailure(`${title}: ${name}`, content === undefined ? "missing_file" : "damaged");
    else attachments.push({ name, content: new Blob([content]) });
  }
  return { attachments, count: seenFileKeys.size };
}

interface EntryString {
  readonly key: string;
  readonly value: string;
}

function readStrings(collector: ItemCollector, entry: XmlElement): EntryString[] {
  return findChildren(entry, "String").map((string) => {
    const [key, value] = [takeChildText(string, "Key"), takeChildText(string, "Value")];
    if (value === "" && key !== "" && !standardKeys.has(key)) collector.leaveOut(key);
    return { key, value };
  });
}

/** The replaced values, newest first and each once, with the time of their version. */
function toHistoryFields(
  { references, collector }: KeepassFile,
  strings: readonly EntryString[],
  otherFields: readonly Field[],
  tags: readonly string[],
  history: readonly XmlElement[],
): Field[] {
  const seenKeys = new Set([
    ...strings.map(({ key, value }) => JSON.stringify([key, value])),
    ...otherFields.map(({ name, value }) => JSON.stringify([name, value])),
    JSON.stringify(["tags", tags.join(";")]),
  ]);
  const isNew = (key: unknown, value: string): boolean => {
    const seenKey = JSON.stringify([key, value]);
    return !seenKeys.has(seenKey) && seenKeys.add(seenKey).size > 0;
  };
  return history.flatMap((version) => {
    const former = parseTime(getChildText(findChild(version, "Times"), "LastModificationTime"));
    const formerTags = takeChildText(version, "Tags").split(/[;,]/).join(";");
    return [
      ...readStrings(collector, version).flatMap(({ key, value }) =>
        !key.startsWith(passkeyPrefix) && isNew(key, value)
          ? [
              {
                ...toStringField(
                  key,
                  references.resolve(value, () => undefined),
                ),
                former,
              },
            ]
          : [],
      ),
      ...toOtherFields(version, collector.leftOut).flatMap((field) =>
        isNew(field.name, field.value ?? "") && field.value ? [{ ...field, former }] : [],
      ),
      ...(isNew("tags", formerTags) ? [{ name: "tags" as const, value: formerTags, former }] : []),
    ];
  });
}

/** Reports the entries of the recycle bin and of all groups in it. */
function reportTrashed(collector: ItemCollector, group: XmlElement): void {
  for (const entry of findChildren(group, "Entry"))
    collector.addFailure(
      firstNonEmpty(readStrings(collector, entry).find(({ key }) => key === "Title")?.value) ?? "?",
      "in_trash",
    );
  for (const subgroup of findChildren(group, "Group")) reportTrashed(collector, subgroup);
}

/** Decodes base64, decompressed if necessary. Null if it is invalid or exceeds the size limit. */
async function decodeBinary({ text, attributes }: XmlElement): Promise<Uint8Array<ArrayBuffer> | null> {
  const bytes = decodeBase64(text);
  if (bytes === null || attributes.get("Compressed")?.toLowerCase() !== "true") return bytes;
  return readGzip(bytes, maxAttachmentBytes);
}
