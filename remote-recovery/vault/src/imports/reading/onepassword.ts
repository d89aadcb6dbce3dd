import { firstNonEmpty, formatDay, humanizeName, toFields, listTexts } from "./item-values.ts";
import type { Field } from "./field.ts";
import { ItemCollector, type ImportEntry } from "./item-collector.ts";
import { maxAttachmentBytes } from "./limits.ts";
import { ImportRefusedError } from "./import-refused-error.ts";
import type { ImportTexts } from "./import-texts.ts";
import { Members } from "./members.ts";
import type { Archive } from "./zip.ts";

/** Names of members that contain passkeys and their key material. */
const passkeyPattern = /passkey/i;

interface FileReference {
  readonly fileName: string;
  readonly documentId: string;
}

/** Kinds by 1Password's category numbers. */
const itemKinds: ReadonlyMap<string, ImportEntry["kind"]> = new Map([
  ["001", "login"],
  ["002", "card"],
  ["003", "note"],
  ["004", "identity"],
  ["005", "login"],
]);

const fieldKinds: ReadonlyMap<string, Field["kind"]> = new Map([
  ["concealed", "secret"],
  ["creditCardNumber", "secret"],
  ["sshKey", "secret"],
  ["url", "address"],
  ...["string", "email", "phone", "address", "monthYear", "menu", "gender", "creditCardType", "country"].map(
    (type) => [type, "text"] as const,
  ),
]);

/** Only 1Password's JSON has accounts. */
export function isOnePassword({ accounts }: Readonly<Record<string, unknown>>): boolean {
  return Array.isArray(accounts);
}

/**
 * Reads the JSON of 1Password's 1PUX archive.
 *
 * @param archive contains the JSON and its files; null for a JSON without files
 * @throws ImportRefusedError `damaged`, `too_large`
 */
export async function readOnePassword(
  json: object,
  texts: ImportTexts,
  archive: Archive | null,
): Promise<ItemCollector> {
  const collector = new ItemCollector("onepassword_1pux", texts);
  const root = Members.of(json, collector.leftOut);
  if (root === null) throw new ImportRefusedError("damaged");
  for (const account of root.objectList("accounts")) {
    account.object("attrs").skip("accountName", "name", "avatar", "email", "uuid", "domain");
    for (const vault of account.objectList("vaults")) {
      const attributes = vault.object("attrs");
      const vaultName = attributes.text("name");
      attributes.skip("uuid", "avatar", "type");
      if (!vault.has("items")) collector.addFailure(vaultName ?? "?", "empty");
      for (const rawItem of vault.list("items")) await addItem(archive, collector, vaultName, rawItem);
      collector.addRest(vaultName ?? "1Password", vault);
    }
  }
  collector.addRest("1Password", root);
  return collector;
}

async function addItem(
  archive: Archive | null,
  collector: ItemCollector,
  vault: string | null,
  rawItem: unknown,
): Promise<void> {
  const item = Members.of(rawItem, collector.leftOut);
  if (item === null) {
    collector.addDamaged(`${vault ?? ""} ?`, rawItem);
    return;
  }
  const [overview, details, id] = [item.object("overview"), item.object("details"), item.text("uuid")];
  const title = overview.text("title");
  const location = firstNonEmpty(title, id) ?? `${vault ?? ""} ?`;
  if (item.flag("trashed") || item.takeIf("state", "trashed")) {
    collector.addFailure(location, "in_trash");
    return;
  }
  item.skip("createdAt", "updatedAt", "state");
  overview.skip("subtitle", "ps", "pbe", "pgrng", "icons", "ainfo", "b5UserUUID", "watchtowerExclusions");
  details.skip("htmlMethod", "htmlAction", "htmlID", "htmlName", "sessionID");
  const [fields, otp, files]: [Field[], string[], FileReference[]] = [[], [], []];
  const passkeys: (string | null)[][] = [];
  const collectPasskey = (name: string, value: unknown): boolean => {
    if (!passkeyPattern.test(name) || value === null) return false;
    for (const passkey of Array.isArray(value) ? value : [value]) {
      const members = Members.of(passkey, collector.leftOut);
      passkeys.push([members?.text("rpId") ?? null, members?.text("userName") ?? null]);
    }
    return true;
  };
  for (const field of details.objectList("loginFields")) {
    const designation = field.text("designation");
    field.skip("id", "fieldType");
    fields.push(
      ...field
        .named("name", "value")
        .map((named): Field =>
          designation === "username" || designation === "password" ? { ...named, name: designation } : named,
        ),
    );
  }
  fields.push({ name: "password", value: details.text("password") });
  const [mainUrl, labels] = [overview.text("url"), new Map<string | null, string | null>()];
  for (const address of overview.objectList("urls")) {
    address.skip("mode");
    const label = address.text("label");
    const url = address.text("url");
    if (url === null) collector.leaveOut(label);
    else labels.set(url, label);
  }
  for (const url of new Set([mainUrl, ...labels.keys()]))
    fields.push({ name: "url", value: url, sections: toSections(labels.get(url)) });
  for (const section of details.objectList("sections")) {
    const [sectionTitle, fieldsBefore] = [section.text("title"), fields.length];
    section.skip("name", "hideAddAnotherField");
    for (const field of section.objectList("fields")) {
      const [fieldTitle, valuesBefore] = [field.text("title"), fields.length];
      field.skip("id", "guarded", "multiline", "dontGenerate", "inputTraits", "placeholder", "indexAtSource");
      for (const { name: type, value } of field.object("value").takeAll()) {
        const file = type === "file" ? toFileReference(value, collector) : null;
        if (file !== null) files.push(file);
        else if (type === "totp" && typeof value === "string") otp.push(value);
        else if (!collectPasskey(type, value))
          fields.push(...toValueFields(fieldTitle ?? "…", toSections(sectionTitle), type, value));
      }
      fields.push(...field.rest([...toSections(sectionTitle), ...toSections(fieldTitle)]));
      if (fields.length === valuesBefore) collector.leaveOut(fieldTitle);
    }
    fields.push(...section.rest(toSections(sectionTitle)));
    if (fields.length === fieldsBefore) collector.leaveOut(sectionTitle);
  }
  const note = details.text("notesPlain");
  const history = details.objectList("passwordHistory").map((former): Field => ({
    name: "password",
    value: former.text("value"),
    former: former.text("time"),
  }));
  const mainFile = toFileReference(details.object("documentAttributes"), collector);
  for (const { name, label, value } of details.takeAll())
    if (!collectPasskey(name, value)) fields.push(...toFields(label, value));
  fields.push(...history);
  if (mainFile !== null) files.push(mainFile);
  const attachments = [];
  for (const { documentId, fileName } of files) {
    const content = await readAttachment(
      archive,
      collector,
      `files/${documentId}__${fileName}`,
      `${location}: ${fileName}`,
    );
    if (content !== null) attachments.push({ name: fileName, content });
  }
  collector.add({
    kind: item.lookUp("categoryUuid", itemKinds) ?? "other",
    title,
    tags: [vault, ...overview.textList("tags")],
    fields,
    note,
    otp,
    passkeys,
    id,
    location,
    isFavorite: (item.integer("favIndex") ?? 0) > 0,
    attachments,
    hasReportedFailure: attachments.length < files.length,
    members: item,
  });
}

function toFileReference(value: unknown, { leftOut }: ItemCollector): FileReference | null {
  const members = value instanceof Members ? value : Members.of(value, leftOut);
  if (members?.has("fileName") !== true || !members.has("documentId")) return null;
  const [fileName, documentId] = [members.text("fileName"), members.text("documentId")];
  members.skip("decryptedSize");
  return fileName === null || documentId === null ? null : { fileName, documentId };
}

/**
 * Reads an attachment. Reports a missing or too large one and returns null; the item is imported
 * without it.
 */
export async function readAttachment(
  archive: Archive | null,
  collector: ItemCollector,
  name: string,
  location: string,
): Promise<Blob | null> {
  try {
    const bytes = (await archive?.read(name, maxAttachmentBytes)) ?? null;
    if (bytes !== null) return new Blob([bytes]);
    collector.addFailure(location, "missing_file");
  } catch (error) {
    if (!(error instanceof ImportRefusedError)) throw error;
    collector.addFailure(location, error.reason === "too_large" ? "too_large" : "damaged");
  }
  return null;
}

function toSections(title: string | null | undefined): string[] {
  return title == null ? [] : [title];
}

/** Turns a value into one line, and its remaining parts into further fields. */
function toValueFields(title: string, sections: readonly string[], type: string, value: unknown): Field[] {
  const text = formatValue(type, value);
  const line: readonly Field[] =
    text === "" ? [] : [{ name: { own: title }, value: text, sections, kind: fieldKinds.get(type) }];
  if (typeof value !== "object" || value === null) return [...line];
  const parts: readonly [string, unknown][] = Object.entries(value);
  const isPartOfLine = ([name, part]: readonly [string, unknown]): boolean =>
    "email_address" in value
      ? name === "email_address"
      : "privateKey" in value
        ? name === "privateKey"
        : typeof part === "string";
  return [
    ...line,
    ...parts
      .filter((part) => !isPartOfLine(part))
      .flatMap(([name, part]) => toFields(humanizeName(name), part, [...sections, title])),
  ];
}

/**
 * Formats a value as one line. Dates are seconds since 1970, months are numbers like `202712`,
 * addresses and keys have parts.
 */
function formatValue(type: string, value: unknown): string {
  if (value === null || value === undefined) return "";
  if (type === "date" && typeof value === "number") return formatDay(value) ?? "";
  if (type === "monthYear" && typeof value === "number")
    return `${String(value).slice(4)}/${String(value).slice(0, 4)}`;
  if (typeof value === "string") return value;
  if (typeof value !== "object") return JSON.stringify(value);
  const line = "email_address" in value ? value.email_address : "privateKey" in value ? value.privateKey : undefined;
  if (line !== undefined) return listTexts(line).join(", ");
  return Object.values(value)
    .filter((part) => typeof part === "string" && part !== "")
    .join(", ");
}
