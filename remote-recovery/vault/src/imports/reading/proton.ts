import { toFields, firstNonEmpty } from "./item-values.ts";
import type { Field } from "./field.ts";
import { ItemCollector, type ImportEntry } from "./item-collector.ts";
import { ImportRefusedError } from "./import-refused-error.ts";
import type { ImportTexts } from "./import-texts.ts";
import { Members } from "./members.ts";

/** Value of Proton's `ItemState`; 1 is active. */
const trashedState = 2;
const itemKinds: ReadonlyMap<string, ImportEntry["kind"]> = new Map([
  ["login", "login"],
  ["note", "note"],
  ["creditCard", "card"],
  ["identity", "identity"],
]);
const fieldNamesByKey: ReadonlyMap<string, Field["name"]> = new Map([
  ["itemEmail", "email"],
  ["itemUsername", "username"],
  ["username", "username"],
  ["password", "password"],
  ["cardholderName", "holder"],
  ["number", "number"],
  ["verificationNumber", "code"],
  ["expirationDate", "expiry"],
  ["pin", "pin"],
]);

const fieldKinds: ReadonlyMap<string, Field["kind"]> = new Map([
  ["text", "text"],
  ["hidden", "secret"],
  ["totp", "secret"],
]);

/** Reads a file of the archive. Null if it is missing, which is then reported with the item. */
export type ReadAttachment = (collector: ItemCollector, name: string, location: string) => Promise<Blob | null>;

/**
 * Reads Proton Pass's JSON, which is part of a ZIP file.
 * @throws ImportRefusedError `encrypted`, `damaged`
 */
export async function readProton(
  json: object,
  texts: ImportTexts,
  readAttachment: ReadAttachment = reportMissing,
): Promise<ItemCollector> {
  const collector = new ItemCollector("proton_pass", texts);
  const root = Members.of(json, collector.leftOut);
  if (root?.flag("encrypted") === true) throw new ImportRefusedError("encrypted");
  if (root === null) throw new ImportRefusedError("damaged");
  root.skip("version", "userId");
  const vaults = root.object("vaults");
  for (const { name: vaultId } of vaults.peek()) {
    const vault = vaults.object(vaultId);
    const vaultName = vault.text("name");
    vault.skip("display");
    if (!vault.has("items")) collector.addFailure(vaultName ?? vaultId, "empty");
    for (const [index, rawItem] of vault.list("items").entries())
      await addItem(collector, vaultName, `${vaultName ?? ""} ${String(index + 1)}`, rawItem, readAttachment);
    collector.addRest(vaultName ?? "Proton Pass", vault);
  }
  collector.addRest("Proton Pass", root);
  return collector;
}

async function addItem(
  collector: ItemCollector,
  vault: string | null,
  fallbackLocation: string,
  rawItem: unknown,
  readAttachment: ReadAttachment,
): Promise<void> {
  const item = Members.of(rawItem, collector.leftOut);
  if (item === null) {
    collector.addDamaged(fallbackLocation, rawItem);
    return;
  }
  const data = item.object("data");
  const [metadata, content] = [data.object("metadata"), data.object("content")];
  const title = metadata.text("name");
  const location = firstNonEmpty(title) ?? fallbackLocation;
  if (item.integer("state") === trashedState) {
    collector.addFailure(location, "in_trash");
    return;
  }
  item.skip("shareId", "contentFormatVersion", "createTime", "modifyTime", "shareCount");
  metadata.skip("itemUuid");
  data.skip("platformSpecific");
  content.skip("cardType");
  const passkeys = content.objectList("passkeys").map((passkey) => {
    const parts = [
      firstNonEmpty(passkey.text("rpId"), passkey.text("domain")),
      firstNonEmpty(passkey.text("userName"), passkey.text("userDisplayName")),
    ];
    passkey.takeAll(); // the rest is key material; the item lists the passkey as omitted
    return parts;
  });
  const [otp, fields]: [(string | null)[], Field[]] = [[content.text("totpUri")], []];
  const urls = [...content.textList("urls"), ...content.texts("urls")];
  const members = content.takeAll();
  for (const { name, label, value } of members)
    if (typeof value === "string") fields.push({ name: fieldNamesByKey.get(name) ?? { own: label }, value });
  fields.push({ name: "email", value: item.text("aliasEmail") });
  for (const url of urls) fields.push({ name: "url", value: url });
  const addExtraFields = (extraFields: readonly Members[], sections: readonly string[]): void => {
    for (const field of extraFields) {
      const [fieldName, fieldData] = [field.text("fieldName"), field.object("data")];
      const kind = field.lookUp("type", fieldKinds);
      const name = { own: fieldName ?? "…" };
      const fieldsBefore = fields.length;
      otp.push(fieldData.text("totpUri"));
      const text = fieldData.text("content");
      if (text !== null) fields.push({ name, value: text, sections, kind });
      for (const { value } of fieldData.takeAll())
        fields.push(...toFields("…", value, sections).map((parsedField): Field => ({ ...parsedField, name })));
      fields.push(...field.rest(fieldName === null ? sections : [...sections, fieldName]));
      if (fields.length === fieldsBefore) collector.leaveOut(fieldName);
    }
  };
  addExtraFields(data.objectList("extraFields"), []);
  for (const { name, label, value } of members) {
    if (typeof value === "string") continue;
    const list = new Members([{ name, label, value }], collector.leftOut);
    const elements = list.objectList(name);
    if (elements.some((element) => element.has("sectionFields"))) {
      for (const section of elements) {
        const sectionName = section.text("sectionName");
        const sections = sectionName === null ? [] : [sectionName];
        const fieldsBefore = fields.length;
        addExtraFields(section.objectList("sectionFields"), sections);
        fields.push(...section.rest(sections));
        if (fields.length === fieldsBefore) collector.leaveOut(sectionName);
      }
    } else if (elements.some((element) => element.has("data"))) addExtraFields(elements, []);
    fields.push(...list.rest());
  }
  const kind = data.lookUp("type", itemKinds) ?? "other";
  const note = metadata.text("note");
  const metadataRest = metadata.rest();
  fields.push(...data.rest(), ...metadataRest);
  const attachments: NonNullable<ImportEntry["attachments"]>[number][] = [];
  const fileNames = item.textList("files");
  for (const name of fileNames) {
    const file = await readAttachment(collector, name, `${location}: ${name}`);
    if (file !== null) attachments.push({ name, content: file });
  }
  collector.add({
    kind,
    title,
    tags: [vault],
    fields,
    note,
    otp,
    passkeys,
    id: item.text("itemId"),
    location,
    isFavorite: item.flag("pinned"),
    attachments,
    hasReportedFailure: attachments.length < fileNames.length,
    members: item,
  });
}

function reportMissing(collector: ItemCollector, _name: string, location: string): Promise<null> {
  collector.addFailure(location, "missing_file");
  return Promise.resolve(null);
}
