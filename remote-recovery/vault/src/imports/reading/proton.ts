import { z } from "zod";

import { jsonOf, maybe } from "./decode.ts";
import { fieldsIn, firstOf, membersOf, parsed, spelled } from "./facts.ts";
import type { Field } from "./field.ts";
import { Items, type Entry } from "./items.ts";
import { Refused } from "./refused.ts";
import type { Words } from "./words.ts";

const ExtraField = z.looseObject({ fieldName: maybe, type: maybe, data: z.looseObject({}).nullish() });
const Section = z.looseObject({ sectionName: maybe, sectionFields: z.array(ExtraField).nullish() });
const Passkey = z.looseObject({ rpId: maybe, domain: maybe, userName: maybe, userDisplayName: maybe });
const Item = z.object({
  itemId: maybe,
  state: z.int().nullish(),
  pinned: z.boolean().nullish().catch(null),
  aliasEmail: maybe,
  files: z.array(z.string()).nullish(),
  data: z.looseObject({
    type: z.string(),
    metadata: z.looseObject({ name: maybe, note: maybe }),
    extraFields: z.array(ExtraField).nullish(),
    content: z.looseObject({ totpUri: maybe, passkeys: z.array(Passkey).nullish() }).nullish(),
  }),
});
const Export = z.object({
  encrypted: z.boolean().optional(),
  vaults: z.record(z.string(), z.object({ name: maybe, items: z.array(z.unknown()) })),
});
const Named = z.object({ data: z.object({ metadata: z.object({ name: z.string() }) }) });

/** Of Proton's `ItemState`: 1 is active. */
const trashed = 2;
const kinds: Readonly<Record<string, Entry["kind"]>> = {
  login: "login",
  note: "note",
  creditCard: "card",
  identity: "identity",
};
const known: Readonly<Record<string, Field["name"]>> = {
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
const knownOfContent = ["urls", "totpUri", "passkeys", "cardType"];
const knownOfData = ["type", "metadata", "extraFields", "content", "platformSpecific"];
const knownOfField = Object.keys(ExtraField.shape);

/** Gives a file of the archive; null where there is none, which is said of the item. */
export type FileOf = (items: Items, name: string, place: string) => Promise<Blob | null>;

/** Proton Pass's JSON, which stands in a ZIP file. @throws Refused `encrypted`, `damaged`. */
export async function readProton(text: string, words: Words, fileOf: FileOf = missing): Promise<Items> {
  const { encrypted, vaults } = jsonOf(Export, text);
  if (encrypted === true) throw new Refused("encrypted");
  const items = new Items("proton_pass", words);
  for (const { name: vault, items: given } of Object.values(vaults)) {
    for (const [at, one] of given.entries())
      await addItem(items, vault, `${vault ?? ""} ${String(at + 1)}`, one, fileOf);
  }
  return items;
}

async function addItem(
  items: Items,
  vault: string | null,
  number: string,
  given: unknown,
  fileOf: FileOf,
): Promise<void> {
  const item = parsed(Item, given);
  const place = firstOf(Named.safeParse(given).data?.data.metadata.name) ?? number;
  if (item === null || item.state === trashed) {
    items.fail(place, item === null ? "damaged" : "in_trash");
    return;
  }
  const { itemId, aliasEmail, data } = item;
  const content: Readonly<Record<string, unknown>> = data.content ?? {};
  const [otp, fields]: [unknown[], Field[]] = [[data.content?.totpUri], []];
  const { urls } = content;
  const members = Object.entries(content).filter(([name]) => !knownOfContent.includes(name));
  for (const [name, value] of members)
    if (typeof value === "string") fields.push({ name: known[name] ?? { own: spelled(name) }, value });
  fields.push({ name: "email", value: aliasEmail });
  for (const url of Array.isArray(urls) ? urls : [urls])
    fields.push({ name: "url", value: url == null ? null : String(url) });
  const extra = (fieldsGiven: readonly z.infer<typeof ExtraField>[], under: readonly string[]): void => {
    for (const field of fieldsGiven) {
      const { content: text, totpUri, ...rest } = field.data ?? {};
      const name = { own: field.fieldName ?? "…" };
      otp.push(totpUri);
      if (text !== undefined)
        fields.push({ name, value: typeof text === "string" ? text : JSON.stringify(text), under });
      for (const value of Object.values(rest))
        fields.push(...fieldsIn("…", value, under).map((one): Field => ({ ...one, name })));
      fields.push(...membersOf(field, knownOfField, under));
    }
  };
  extra(data.extraFields ?? [], []);
  for (const [name, value] of members) {
    if (typeof value === "string") continue;
    const [sections, own] = [
      z.array(Section.required({ sectionFields: true })).safeParse(value),
      z.array(ExtraField.required({ data: true })).safeParse(value),
    ];
    if (sections.success) {
      for (const { sectionName, sectionFields, ...rest } of sections.data) {
        const under = sectionName === null || sectionName === "" ? [] : [sectionName];
        extra(sectionFields ?? [], under);
        fields.push(...membersOf(rest, [], under));
      }
    } else if (own.success) extra(own.data, []);
    else fields.push(...fieldsIn(name, value));
  }
  fields.push(...membersOf(data, knownOfData), ...membersOf(data.metadata, ["name", "note", "itemUuid"]));
  const attachments: NonNullable<Entry["attachments"]>[number][] = [];
  for (const name of item.files ?? []) {
    const file = await fileOf(items, name, `${place}: ${name}`);
    if (file !== null) attachments.push({ name, content: file });
  }
  items.add({
    kind: kinds[data.type] ?? "other",
    title: data.metadata.name,
    tags: [vault],
    fields,
    note: data.metadata.note,
    otp: otp.map((seed) => (typeof seed === "string" ? seed : null)),
    passkeys: (data.content?.passkeys ?? []).map(({ rpId, domain, userName, userDisplayName }) => [
      firstOf(rpId, domain),
      firstOf(userName, userDisplayName),
    ]),
    id: itemId,
    place,
    isFavorite: item.pinned === true,
    attachments,
    hasFailed: attachments.length < (item.files ?? []).length,
  });
}

function missing(items: Items, _name: string, place: string): Promise<null> {
  items.fail(place, "missing_file");
  return Promise.resolve(null);
}
