import { z } from "zod";

import { jsonOf, maybe } from "./decode.ts";
import { Items, type Entry, type Field } from "./items.ts";
import { maxAttachmentBytes, maxTextBytes } from "./limits.ts";
import { Refused } from "./refused.ts";
import type { Words } from "./words.ts";
import type { Archive } from "./zip.ts";

const list = <T extends z.ZodType>(item: T) => z.array(item).nullish().catch(null);

const Value = z.record(z.string(), z.unknown()).catch({});
const Item = z.object({
  uuid: maybe,
  categoryUuid: maybe,
  state: maybe,
  details: z.object({
    loginFields: list(z.object({ value: maybe, name: maybe, designation: maybe })),
    notesPlain: maybe,
    sections: list(z.object({ title: maybe, fields: list(z.object({ title: maybe, value: Value })) })),
    documentAttributes: z.object({ fileName: z.string(), documentId: z.string() }).nullish().catch(null),
    password: maybe,
  }),
  overview: z.object({ title: maybe, url: maybe, urls: list(z.object({ url: maybe })), tags: list(z.string()) }),
});
const Export = z.object({ accounts: z.array(z.object({ vaults: z.array(z.object({ attrs: z.object({ name: maybe }), items: z.array(z.unknown()) })) })) });
const FileValue = z.object({ fileName: z.string(), documentId: z.string() });

/** By 1Password's numbers of categories. */
const kinds: Readonly<Record<string, Entry["kind"]>> = { "001": "login", "002": "card", "003": "note", "004": "identity", "005": "login" };

/** 1Password's 1PUX archive. @throws Refused `damaged`, `too_large`. */
export async function readOnePassword(archive: Archive, words: Words): Promise<Items> {
  const data = await archive.read("export.data", maxTextBytes);
  if (data === null) throw new Refused("damaged");
  const { accounts } = jsonOf(Export, new TextDecoder().decode(data));
  const items = new Items("onepassword_1pux", words);
  for (const { attrs, items: given } of accounts.flatMap(({ vaults }) => vaults)) {
    for (const one of given) await addItem(archive, items, attrs.name, one);
  }
  return items;
}

async function addItem(archive: Archive, items: Items, vault: string | null, given: unknown): Promise<void> {
  const parsed = Item.safeParse(given);
  if (!parsed.success) {
    items.fail(`${vault ?? ""} ?`, "damaged");
    return;
  }
  const { uuid, categoryUuid, details, overview } = parsed.data;
  const place = overview.title ?? uuid ?? "?";
  const [fields, otp, files]: [Field[], string[], z.infer<typeof FileValue>[]] = [[], [], []];
  for (const { value, name, designation } of details.loginFields ?? []) {
    fields.push({ name: designation === "username" || designation === "password" ? designation : { own: name === null || name === "" ? "…" : name }, value });
  }
  fields.push({ name: "password", value: details.password });
  for (const url of new Set([overview.url, ...(overview.urls ?? []).map((each) => each.url)])) fields.push({ name: "url", value: url });
  for (const { title, fields: own } of (details.sections ?? []).flatMap((section) => (section.fields ?? []).map((field) => ({ title: field.title, fields: field.value })))) {
    for (const [type, value] of Object.entries(own)) {
      const file = type === "file" ? FileValue.safeParse(value) : null;
      if (file?.success === true) files.push(file.data);
      else if (type === "totp") otp.push(String(value));
      else fields.push({ name: { own: title === null || title === "" ? "…" : title }, value: written(type, value) });
    }
  }
  if (details.documentAttributes != null) files.push(details.documentAttributes);
  const attachments = [];
  for (const { documentId, fileName } of files) {
    const content = await readFile(archive, items, `files/${documentId}__${fileName}`, `${place}: ${fileName}`);
    if (content !== null) attachments.push({ name: fileName, content });
  }
  items.add({ kind: kinds[categoryUuid ?? ""] ?? "other", title: overview.title, tags: [vault, ...(overview.tags ?? [])], fields, note: details.notesPlain, otp, id: uuid, place, attachments });
}

/** A file that is missing or too large is told, and the item goes on without it. */
export async function readFile(archive: Archive, items: Items, name: string, place: string): Promise<Blob | null> {
  try {
    const bytes = await archive.read(name, maxAttachmentBytes);
    if (bytes !== null) return new Blob([bytes]);
    items.fail(place, "missing_file");
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    items.fail(place, error.reason === "too_large" ? "too_large" : "damaged");
  }
  return null;
}

/** A value as a line: dates are seconds since 1970, months `202712`, addresses and keys have parts. */
function written(type: string, value: unknown): string {
  if (value === null || value === undefined) return "";
  if (type === "date" && typeof value === "number") return new Date(value * 1000).toISOString().slice(0, 10);
  if (type === "monthYear" && typeof value === "number") return `${String(value).slice(4)}/${String(value).slice(0, 4)}`;
  if (typeof value === "string") return value;
  if (typeof value !== "object") return JSON.stringify(value);
  if ("email_address" in value) return String(value.email_address);
  if ("privateKey" in value) return String(value.privateKey);
  return Object.values(value).filter((part) => typeof part === "string" && part !== "").join(", ");
}
