import { z } from "zod";

import { parseJsonAs, optionalText } from "./decode.ts";
import { firstNonEmpty, remainingFields, parseItem } from "./item-values.ts";
import type { Field } from "./field.ts";
import { ItemCollector, type ImportEntry } from "./item-collector.ts";
import { ImportRefusedError } from "./import-refused-error.ts";
import type { ImportTexts } from "./words.ts";

const namedListSchema = z.array(z.object({ id: z.string(), name: optionalText })).catch([]);
const optionalRecordSchema = z.record(z.string(), z.unknown()).nullish();

const Passkey = z.looseObject({
  rpId: optionalText,
  rpName: optionalText,
  userName: optionalText,
  userDisplayName: optionalText,
});
const Item = z.looseObject({
  id: optionalText,
  type: z.int().catch(0),
  name: optionalText,
  notes: optionalText,
  folderId: optionalText,
  favorite: z.boolean().nullish().catch(null),
  collectionIds: z.array(z.string()).nullish(),
  fields: z.array(z.object({ name: optionalText, value: optionalText })).nullish(),
  login: z
    .looseObject({
      uris: z.array(z.object({ uri: optionalText })).nullish(),
      username: optionalText,
      password: optionalText,
      totp: optionalText,
      fido2Credentials: z.array(Passkey).nullish(),
    })
    .nullish(),
  card: optionalRecordSchema,
  identity: optionalRecordSchema,
  sshKey: optionalRecordSchema,
  passwordHistory: z.array(z.object({ password: optionalText, lastUsedDate: optionalText })).nullish(),
  deletedDate: optionalText,
  attachments: z.array(z.looseObject({ fileName: optionalText })).nullish(),
});
/** What is read below, and what Bitwarden itself has written into an item. */
const knownItemKeys = [
  ...Object.keys(Item.shape),
  "organizationId",
  "reprompt",
  "revisionDate",
  "creationDate",
  "archivedDate",
  "secureNote",
  "object",
  "key",
  "edit",
  "viewPassword",
  "permissions",
  "organizationUseTotp",
];
const knownLoginKeys = [
  "uris",
  "uri",
  "username",
  "password",
  "totp",
  "fido2Credentials",
  "passwordRevisionDate",
  "autofillOnPageLoad",
];
const knownCardKeys = ["cardholderName", "brand", "number", "expMonth", "expYear", "code"];

const Export = z.object({
  encrypted: z.boolean().optional(),
  folders: namedListSchema,
  collections: namedListSchema,
  items: z.array(z.unknown()),
});
const NamedItem = z.object({ name: z.string() });

const itemKinds: Readonly<Record<number, ImportEntry["kind"]>> = { 1: "login", 2: "note", 3: "card", 4: "identity" };

/**
 * The files beside the JSON in an archive: paths as `attachments/<item id>/<name>`, and how one is
 * read.
 */
export interface BitwardenAttachments {
  readonly paths: readonly string[];
  /** Null where it cannot be read, which is then said of the item. */
  readonly read: (collector: ItemCollector, path: string, location: string) => Promise<Blob | null>;
}

/**
 * Bitwarden's JSON, of a person or an organisation; in an archive with its attachments. @throws
 * Refused `encrypted`, `damaged`.
 */
export async function readBitwarden(
  text: string,
  texts: ImportTexts,
  attachmentFiles: BitwardenAttachments = { paths: [], read: () => Promise.resolve(null) },
): Promise<ItemCollector> {
  if (parseJsonAs(z.object({ encrypted: z.boolean().optional() }), text).encrypted === true)
    throw new ImportRefusedError("encrypted");
  const { folders, collections, items: rawItems } = parseJsonAs(Export, text);
  const tagNames = new Map([...folders, ...collections].map(({ id, name }) => [id, name]));
  const collector = new ItemCollector("bitwarden_json", texts);
  const filesByItemId = groupFilesByItem(attachmentFiles.paths);
  const knownIds = new Set<string>();
  for (const [index, rawItem] of rawItems.entries()) {
    const item = parseItem(Item, rawItem);
    if (item?.id != null) knownIds.add(item.id);
    const location = firstNonEmpty(NamedItem.safeParse(rawItem).data?.name) ?? String(index + 1);
    if (item === null) {
      collector.addFailure(location, "damaged");
      continue;
    }
    if (item.deletedDate !== null) {
      collector.addFailure(location, "in_trash");
      continue;
    }
    const { id, type, name, notes, folderId, collectionIds, fields, login } = item;
    const attachedFiles = (id == null ? undefined : filesByItemId.get(id)) ?? [];
    const missingFiles = (item.attachments ?? []).filter(
      ({ fileName }) => !attachedFiles.some(({ name }) => name === fileName),
    );
    for (const { fileName } of missingFiles) collector.addFailure(`${location}: ${fileName ?? "?"}`, "missing_file");
    const attachments = [];
    for (const { path, name } of attachedFiles) {
      const content = await attachmentFiles.read(collector, path, `${location}: ${name}`);
      if (content !== null) attachments.push({ name, content });
    }
    collector.add({
      kind: itemKinds[type] ?? "other",
      title: name,
      tags: [...(folderId ?? "").split("\n"), ...(collectionIds ?? [])].flatMap((tag) =>
        (tagNames.get(tag) ?? "").split("/"),
      ),
      fields: [
        { name: "username", value: login?.username },
        { name: "password", value: login?.password },
        ...(login?.uris ?? []).map(({ uri }): Field => ({ name: "url", value: uri })),
        ...toCardFields(item.card ?? {}),
        ...remainingFields(item.identity ?? {}, []),
        ...remainingFields(item.sshKey ?? {}, []),
        ...(fields ?? []).map((field): Field => ({ name: { own: field.name ?? "…" }, value: field.value })),
        ...remainingFields(login ?? {}, knownLoginKeys),
        ...remainingFields(item, knownItemKeys),
        ...(item.passwordHistory ?? []).map(({ password, lastUsedDate }): Field => ({
          name: "password",
          value: password,
          former: lastUsedDate,
        })),
      ],
      note: notes,
      otp: [login?.totp],
      passkeys: (login?.fido2Credentials ?? []).map(({ rpId, rpName, userName, userDisplayName }) => [
        firstNonEmpty(rpId, rpName),
        firstNonEmpty(userName, userDisplayName),
      ]),
      id,
      place: location,
      isFavorite: item.favorite === true,
      attachments,
      hasReportedFailure: missingFiles.length > 0 || attachments.length < attachedFiles.length,
    });
  }
  for (const { path, name } of [...filesByItemId].flatMap(([id, itemFiles]) => (knownIds.has(id) ? [] : itemFiles))) {
    // its item is not in the JSON, or could not be read: the file is kept by itself
    const content = await attachmentFiles.read(collector, path, name);
    if (content !== null)
      collector.addFile({
        kind: "attachment",
        title: name,
        tags: [],
        name,
        mime: "application/octet-stream",
        content,
        itemKey: path,
      });
  }
  return collector;
}

function groupFilesByItem(
  paths: readonly string[],
): ReadonlyMap<string, readonly { readonly path: string; readonly name: string }[]> {
  const files = new Map<string, { readonly path: string; readonly name: string }[]>();
  for (const path of paths) {
    const [folder, id, ...name] = path.split("/");
    if (folder !== "attachments" || id === undefined || name.length === 0) continue;
    const itemFiles = files.get(id) ?? [];
    itemFiles.push({ path, name: name.join("/") });
    files.set(id, itemFiles);
  }
  return files;
}

function toCardFields(card: Readonly<Record<string, unknown>>): Field[] {
  const readText = (name: string): string | null => optionalText.parse(card[name]);
  const expiry = [readText("expMonth"), readText("expYear")].filter((part) => part !== null && part !== "").join("/");
  return [
    { name: "holder", value: readText("cardholderName") },
    { name: "brand", value: readText("brand") },
    { name: "number", value: readText("number") },
    { name: "expiry", value: expiry },
    { name: "code", value: readText("code") },
    ...remainingFields(card, knownCardKeys),
  ];
}
