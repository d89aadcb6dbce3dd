import { z } from "zod";

import { parseJsonAs, optionalText } from "./decode.ts";
import { formatDay, toFields, firstNonEmpty, parseItem } from "./item-values.ts";
import type { Field } from "./field.ts";
import { ItemCollector, type ImportEntry } from "./item-collector.ts";
import { maxAttachmentBytes, maxTextBytes } from "./limits.ts";
import { ImportRefusedError } from "./import-refused-error.ts";
import type { ImportTexts } from "./words.ts";
import type { Archive } from "./zip.ts";

const optionalList = <T extends z.ZodType>(item: T) => z.array(item).nullish();

const Value = z.record(z.string(), z.unknown()).nullish();
const Passkey = z.looseObject({ rpId: optionalText, userName: optionalText }).catch({ rpId: null, userName: null });
const Item = z.object({
  uuid: optionalText,
  categoryUuid: optionalText,
  trashed: z.boolean().nullish(),
  favIndex: z.number().nullish().catch(null),
  details: z.looseObject({
    loginFields: optionalList(z.object({ value: optionalText, name: optionalText, designation: optionalText })),
    notesPlain: optionalText,
    sections: optionalList(
      z.object({ title: optionalText, fields: optionalList(z.object({ title: optionalText, value: Value })) }),
    ),
    passwordHistory: optionalList(z.object({ value: optionalText, time: optionalText })),
    documentAttributes: z.object({ fileName: z.string(), documentId: z.string() }).nullish(),
    password: optionalText,
  }),
  overview: z.object({
    title: optionalText,
    url: optionalText,
    urls: optionalList(z.object({ label: optionalText, url: optionalText })),
    tags: optionalList(z.string()),
  }),
});
const knownDetailKeys = [
  ...Object.keys(Item.shape.details.shape),
  "htmlMethod",
  "htmlAction",
  "htmlID",
  "htmlName",
  "sessionID",
];
const NamedItem = z.object({ overview: z.object({ title: z.string() }) });
/** Under such a name stand passkeys, with what proves them. */
const passkeyPattern = /passkey/i;
const Export = z.object({
  accounts: z.array(
    z.object({ vaults: z.array(z.object({ attrs: z.object({ name: optionalText }), items: z.array(z.unknown()) })) }),
  ),
});
const FileValue = z.object({ fileName: z.string(), documentId: z.string() });

/** By 1Password's numbers of categories. */
const itemKinds: Readonly<Record<string, ImportEntry["kind"]>> = {
  "001": "login",
  "002": "card",
  "003": "note",
  "004": "identity",
  "005": "login",
};

/** 1Password's 1PUX archive. @throws Refused `damaged`, `too_large`. */
export async function readOnePassword(archive: Archive, texts: ImportTexts): Promise<ItemCollector> {
  const data = await archive.read("export.data", maxTextBytes);
  if (data === null) throw new ImportRefusedError("damaged");
  const { accounts } = parseJsonAs(Export, new TextDecoder().decode(data));
  const collector = new ItemCollector("onepassword_1pux", texts);
  for (const { attrs, items: rawItems } of accounts.flatMap(({ vaults }) => vaults)) {
    for (const rawItem of rawItems) await addItem(archive, collector, attrs.name, rawItem);
  }
  return collector;
}

async function addItem(
  archive: Archive,
  collector: ItemCollector,
  vault: string | null,
  rawItem: unknown,
): Promise<void> {
  const item = parseItem(Item, rawItem);
  const location = firstNonEmpty(NamedItem.safeParse(rawItem).data?.overview.title, item?.uuid) ?? `${vault ?? ""} ?`;
  if (item === null || item.trashed === true) {
    collector.addFailure(location, item === null ? "damaged" : "in_trash");
    return;
  }
  const { uuid, categoryUuid, details, overview } = item;
  const [fields, otp, files]: [Field[], string[], z.infer<typeof FileValue>[]] = [[], [], []];
  const passkeys: (string | null)[][] = [];
  const collectPasskey = (name: string, value: unknown): boolean => {
    if (!passkeyPattern.test(name) || value === null) return false;
    for (const { rpId, userName } of z.array(Passkey).parse(Array.isArray(value) ? value : [value]))
      passkeys.push([rpId, userName]);
    return true;
  };
  for (const { value, name, designation } of details.loginFields ?? []) {
    fields.push({
      name:
        designation === "username" || designation === "password"
          ? designation
          : { own: name === null || name === "" ? "…" : name },
      value,
    });
  }
  fields.push({ name: "password", value: details.password });
  const labels = new Map((overview.urls ?? []).map(({ label, url }) => [url, label]));
  for (const url of new Set([overview.url, ...labels.keys()]))
    fields.push({ name: "url", value: url, sections: toSections(labels.get(url)) });
  for (const { title: section, fields: sectionFields } of details.sections ?? []) {
    for (const { title, value: values } of sectionFields ?? []) {
      for (const [type, value] of Object.entries(values ?? {})) {
        const file = type === "file" ? FileValue.safeParse(value) : null;
        if (file?.success === true) files.push(file.data);
        else if (type === "totp") otp.push(String(value));
        else if (!collectPasskey(type, value))
          fields.push(...toValueFields(title === null || title === "" ? "…" : title, toSections(section), type, value));
      }
    }
  }
  for (const [name, value] of Object.entries(details)) {
    if (!knownDetailKeys.includes(name) && !collectPasskey(name, value)) fields.push(...toFields(name, value));
  }
  for (const { value, time } of details.passwordHistory ?? []) fields.push({ name: "password", value, former: time });
  if (details.documentAttributes != null) files.push(details.documentAttributes);
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
    kind: itemKinds[categoryUuid ?? ""] ?? "other",
    title: overview.title,
    tags: [vault, ...(overview.tags ?? [])],
    fields,
    note: details.notesPlain,
    otp,
    passkeys,
    id: uuid,
    place: location,
    isFavorite: (item.favIndex ?? 0) > 0,
    attachments,
    hasReportedFailure: attachments.length < files.length,
  });
}

/** A file that is missing or too large is told, and the item goes on without it. */
export async function readAttachment(
  archive: Archive,
  collector: ItemCollector,
  name: string,
  location: string,
): Promise<Blob | null> {
  try {
    const bytes = await archive.read(name, maxAttachmentBytes);
    if (bytes !== null) return new Blob([bytes]);
    collector.addFailure(location, "missing_file");
  } catch (error) {
    if (!(error instanceof ImportRefusedError)) throw error;
    collector.addFailure(location, error.reason === "too_large" ? "too_large" : "damaged");
  }
  return null;
}

function toSections(title: string | null | undefined): string[] {
  return title == null || title === "" ? [] : [title];
}

/** A value as one line, and what it has beside that. */
function toValueFields(title: string, sections: readonly string[], type: string, value: unknown): Field[] {
  const line: Field = { name: { own: title }, value: formatValue(type, value), sections };
  if (typeof value !== "object" || value === null) return [line];
  const parts: readonly [string, unknown][] = Object.entries(value);
  const isPartOfLine = ([name, part]: readonly [string, unknown]): boolean =>
    "email_address" in value
      ? name === "email_address"
      : "privateKey" in value
        ? name === "privateKey"
        : typeof part === "string";
  return [
    line,
    ...parts
      .filter((part) => !isPartOfLine(part))
      .flatMap(([name, part]) => toFields(name, part, [...sections, title])),
  ];
}

/**
 * A value as a line: dates are seconds since 1970, months `202712`, addresses and keys have parts.
 */
function formatValue(type: string, value: unknown): string {
  if (value === null || value === undefined) return "";
  if (type === "date" && typeof value === "number") return formatDay(value) ?? "";
  if (type === "monthYear" && typeof value === "number")
    return `${String(value).slice(4)}/${String(value).slice(0, 4)}`;
  if (typeof value === "string") return value;
  if (typeof value !== "object") return JSON.stringify(value);
  if ("email_address" in value) return String(value.email_address);
  if ("privateKey" in value) return String(value.privateKey);
  return Object.values(value)
    .filter((part) => typeof part === "string" && part !== "")
    .join(", ");
}
