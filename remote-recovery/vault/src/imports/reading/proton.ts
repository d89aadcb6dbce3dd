import { z } from "zod";

import { parseJsonAs, optionalText } from "./decode.ts";
import { toFields, firstNonEmpty, remainingFields, parseItem, humanizeName } from "./item-values.ts";
import type { Field } from "./field.ts";
import { ItemCollector, type ImportEntry } from "./item-collector.ts";
import { ImportRefusedError } from "./import-refused-error.ts";
import type { ImportTexts } from "./words.ts";

const ExtraField = z.looseObject({ fieldName: optionalText, type: optionalText, data: z.looseObject({}).nullish() });
const Section = z.looseObject({ sectionName: optionalText, sectionFields: z.array(ExtraField).nullish() });
const Passkey = z.looseObject({
  rpId: optionalText,
  domain: optionalText,
  userName: optionalText,
  userDisplayName: optionalText,
});
const Item = z.object({
  itemId: optionalText,
  state: z.int().nullish(),
  pinned: z.boolean().nullish().catch(null),
  aliasEmail: optionalText,
  files: z.array(z.string()).nullish(),
  data: z.looseObject({
    type: z.string(),
    metadata: z.looseObject({ name: optionalText, note: optionalText }),
    extraFields: z.array(ExtraField).nullish(),
    content: z.looseObject({ totpUri: optionalText, passkeys: z.array(Passkey).nullish() }).nullish(),
  }),
});
const Export = z.object({
  encrypted: z.boolean().optional(),
  vaults: z.record(z.string(), z.object({ name: optionalText, items: z.array(z.unknown()) })),
});
const NamedItem = z.object({ data: z.object({ metadata: z.object({ name: z.string() }) }) });

/** Of Proton's `ItemState`: 1 is active. */
const trashedState = 2;
const itemKinds: Readonly<Record<string, ImportEntry["kind"]>> = {
  login: "login",
  note: "note",
  creditCard: "card",
  identity: "identity",
};
const fieldNamesByKey: Readonly<Record<string, Field["name"]>> = {
  itemEmail: "email",
  itemUsername: "username",
  username: "username",
  password: "password",
  cardholderName: "holder",
  number: "number",
  verificationNumber: "code",
  expirationDate: "expiry",
  pin: "pin",
};
/**
 * What is read below, and what Proton itself has written: beside `data` an item holds nothing of
 * the person's but its files.
 */
const knownContentKeys = ["urls", "totpUri", "passkeys", "cardType"];
const knownDataKeys = ["type", "metadata", "extraFields", "content", "platformSpecific"];
const knownFieldKeys = Object.keys(ExtraField.shape);

/** Gives a file of the archive; null where there is none, which is said of the item. */
export type ReadAttachment = (collector: ItemCollector, name: string, location: string) => Promise<Blob | null>;

/** Proton Pass's JSON, which stands in a ZIP file. @throws Refused `encrypted`, `damaged`. */
export async function readProton(
  text: string,
  texts: ImportTexts,
  readAttachment: ReadAttachment = reportMissing,
): Promise<ItemCollector> {
  const { encrypted, vaults } = parseJsonAs(Export, text);
  if (encrypted === true) throw new ImportRefusedError("encrypted");
  const collector = new ItemCollector("proton_pass", texts);
  for (const { name: vault, items: rawItems } of Object.values(vaults)) {
    for (const [index, rawItem] of rawItems.entries())
      await addItem(collector, vault, `${vault ?? ""} ${String(index + 1)}`, rawItem, readAttachment);
  }
  return collector;
}

async function addItem(
  collector: ItemCollector,
  vault: string | null,
  fallbackLocation: string,
  rawItem: unknown,
  readAttachment: ReadAttachment,
): Promise<void> {
  const item = parseItem(Item, rawItem);
  const location = firstNonEmpty(NamedItem.safeParse(rawItem).data?.data.metadata.name) ?? fallbackLocation;
  if (item === null || item.state === trashedState) {
    collector.addFailure(location, item === null ? "damaged" : "in_trash");
    return;
  }
  const { itemId, aliasEmail, data } = item;
  const content: Readonly<Record<string, unknown>> = data.content ?? {};
  const [otp, fields]: [unknown[], Field[]] = [[data.content?.totpUri], []];
  const { urls } = content;
  const members = Object.entries(content).filter(([name]) => !knownContentKeys.includes(name));
  for (const [name, value] of members)
    if (typeof value === "string") fields.push({ name: fieldNamesByKey[name] ?? { own: humanizeName(name) }, value });
  fields.push({ name: "email", value: aliasEmail });
  for (const url of Array.isArray(urls) ? urls : [urls])
    fields.push({ name: "url", value: url == null ? null : String(url) });
  const addExtraFields = (extraFields: readonly z.infer<typeof ExtraField>[], sections: readonly string[]): void => {
    for (const field of extraFields) {
      const { content: text, totpUri, ...rest } = field.data ?? {};
      const name = { own: field.fieldName ?? "…" };
      otp.push(totpUri);
      if (text !== undefined)
        fields.push({ name, value: typeof text === "string" ? text : JSON.stringify(text), sections });
      for (const value of Object.values(rest))
        fields.push(...toFields("…", value, sections).map((parsedField): Field => ({ ...parsedField, name })));
      fields.push(...remainingFields(field, knownFieldKeys, sections));
    }
  };
  addExtraFields(data.extraFields ?? [], []);
  for (const [name, value] of members) {
    if (typeof value === "string") continue;
    const [parsedSections, parsedFields] = [
      z.array(Section.required({ sectionFields: true })).safeParse(value),
      z.array(ExtraField.required({ data: true })).safeParse(value),
    ];
    if (parsedSections.success) {
      for (const { sectionName, sectionFields, ...rest } of parsedSections.data) {
        const sections = sectionName === null || sectionName === "" ? [] : [sectionName];
        addExtraFields(sectionFields ?? [], sections);
        fields.push(...remainingFields(rest, [], sections));
      }
    } else if (parsedFields.success) addExtraFields(parsedFields.data, []);
    else fields.push(...toFields(name, value));
  }
  fields.push(...remainingFields(data, knownDataKeys), ...remainingFields(data.metadata, ["name", "note", "itemUuid"]));
  const attachments: NonNullable<ImportEntry["attachments"]>[number][] = [];
  for (const name of item.files ?? []) {
    const file = await readAttachment(collector, name, `${location}: ${name}`);
    if (file !== null) attachments.push({ name, content: file });
  }
  collector.add({
    kind: itemKinds[data.type] ?? "other",
    title: data.metadata.name,
    tags: [vault],
    fields,
    note: data.metadata.note,
    otp: otp.map((seed) => (typeof seed === "string" ? seed : null)),
    passkeys: (data.content?.passkeys ?? []).map(({ rpId, domain, userName, userDisplayName }) => [
      firstNonEmpty(rpId, domain),
      firstNonEmpty(userName, userDisplayName),
    ]),
    id: itemId,
    place: location,
    isFavorite: item.pinned === true,
    attachments,
    hasReportedFailure: attachments.length < (item.files ?? []).length,
  });
}

function reportMissing(collector: ItemCollector, _name: string, location: string): Promise<null> {
  collector.addFailure(location, "missing_file");
  return Promise.resolve(null);
}
