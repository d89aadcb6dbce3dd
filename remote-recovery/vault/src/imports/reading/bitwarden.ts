import type { Field } from "./field.ts";
import { FolderNames } from "./folder-names.ts";
import { ItemCollector, type ImportEntry } from "./item-collector.ts";
import { firstNonEmpty } from "./item-values.ts";
import { ImportRefusedError } from "./import-refused-error.ts";
import type { ImportTexts } from "./import-texts.ts";
import { Members } from "./members.ts";

const itemKinds: ReadonlyMap<number | null, ImportEntry["kind"]> = new Map([
  [1, "login"],
  [2, "note"],
  [3, "card"],
  [4, "identity"],
]);

const fieldKinds: ReadonlyMap<number | null, Field["kind"]> = new Map([
  [0, "text"],
  [1, "secret"],
  [2, "text"], // a boolean
]);

/**
 * Attached files of an archive: paths of the form `attachments/<item id>/<name>`, and how to read
 * one.
 */
export interface BitwardenAttachments {
  readonly paths: readonly string[];
  /** Null if the file cannot be read; the failure is then reported with the item. */
  readonly read: (collector: ItemCollector, path: string, location: string) => Promise<Blob | null>;
}

/** Only Bitwarden's items have numbers as types. */
export function isBitwarden(root: Readonly<Record<string, unknown>>): boolean {
  const { items, encrypted } = root;
  return (
    typeof encrypted === "boolean" ||
    (Array.isArray(items) && items.some((item) => Number.isInteger((item as { type?: unknown } | null)?.type)))
  );
}

/**
 * Reads the JSON of a person or an organisation; in an archive, with its attachments.
 * @throws ImportRefusedError `encrypted`, `damaged`
 */
export async function readBitwarden(
  json: object,
  texts: ImportTexts,
  attachmentFiles: BitwardenAttachments = { paths: [], read: () => Promise.resolve(null) },
): Promise<ItemCollector> {
  const collector = new ItemCollector("bitwarden_json", texts);
  const root = Members.of(json, collector.leftOut);
  if (root?.flag("encrypted") === true) throw new ImportRefusedError("encrypted");
  if (root === null || !("items" in json)) throw new ImportRefusedError("damaged");
  const folderNames = new FolderNames([...root.objectList("folders"), ...root.objectList("collections")], "id", "name");
  const filesByItemId = groupFilesByItem(attachmentFiles.paths);
  const knownIds = new Set<string>();
  for (const [index, rawItem] of root.list("items").entries()) {
    const item = Members.of(rawItem, collector.leftOut);
    const id = item?.text("id") ?? null;
    if (id !== null) knownIds.add(id);
    const name = item?.text("name") ?? null;
    const location = firstNonEmpty(name) ?? String(index + 1);
    if (item === null) collector.addDamaged(location, rawItem);
    else if (item.text("deletedDate") !== null) collector.addFailure(location, "in_trash");
    else {
      const attachedFiles = (id === null ? undefined : filesByItemId.get(id)) ?? [];
      const missingFiles = item.objectList("attachments").flatMap((attachment) => {
        const fileName = attachment.text("fileName");
        attachment.skip("id", "url", "size", "sizeName", "key");
        return attachedFiles.some(({ name }) => name === fileName) ? [] : [fileName];
      });
      for (const fileName of missingFiles) collector.addFailure(`${location}: ${fileName ?? "?"}`, "missing_file");
      const attachments = [];
      for (const { path, name } of attachedFiles) {
        const content = await attachmentFiles.read(collector, path, `${location}: ${name}`);
        if (content !== null) attachments.push({ name, content });
      }
      collector.add({
        ...readItem(item, folderNames, collector),
        title: name,
        id,
        location,
        attachments,
        hasReportedFailure: missingFiles.length > 0 || attachments.length < attachedFiles.length,
      });
    }
  }
  for (const { path, name } of [...filesByItemId].flatMap(([id, itemFiles]) => (knownIds.has(id) ? [] : itemFiles))) {
    // the JSON lacks the item, or the item could not be read: the file becomes an item
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
  folderNames.reportUnused(collector);
  collector.addRest("Bitwarden", root);
  return collector;
}

function readItem(
  item: Members,
  folderNames: FolderNames,
  collector: ItemCollector,
): Omit<ImportEntry, "title" | "id" | "location"> {
  const folderId = item.text("folderId");
  const folderTags = [
    ...folderNames.resolve(folderId === null ? [] : [folderId], "Folder Id", collector),
    ...folderNames.resolve(item.textList("collectionIds"), "Collection Ids", collector),
  ];
  const login = item.object("login");
  const [card, identity, sshKey] = [item.object("card"), item.object("identity"), item.object("sshKey")];
  item.object("secureNote").skip("type");
  const passkeys = login.objectList("fido2Credentials").map((passkey) => {
    const parts = [
      firstNonEmpty(passkey.text("rpId"), passkey.text("rpName")),
      firstNonEmpty(passkey.text("userName"), passkey.text("userDisplayName")),
    ];
    passkey.takeAll(); // the rest is key material; the item lists the passkey as omitted
    return parts;
  });
  const urls = login.objectList("uris").flatMap((uri) => {
    uri.skip("match", "uriChecksum");
    return uri.texts("uri");
  });
  const otherUrls = login.texts("uri").filter((url) => !urls.includes(url)); // earlier releases repeated the first URL
  login.skip("passwordRevisionDate", "autofillOnPageLoad");
  item.skip(
    ...["organizationId", "reprompt", "revisionDate", "creationDate", "archivedDate", "object", "key", "edit"],
    ...["viewPassword", "permissions", "organizationUseTotp"],
  );
  const kind = itemKinds.get(item.integer("type")) ?? "other";
  const [username, password, otp] = [login.text("username"), login.text("password"), login.text("totp")];
  const history = item.objectList("passwordHistory").map((former): Field => ({
    name: "password",
    value: former.text("password"),
    former: former.text("lastUsedDate"),
  }));
  const note = item.text("notes");
  const isFavorite = item.flag("favorite");
  const customFields = item.objectList("fields").flatMap((field) => {
    const fieldKind = fieldKinds.get(field.integer("type"));
    field.skip("type", "linkedId");
    return field.named("name", "value").map((named): Field => ({ ...named, kind: fieldKind }));
  });
  return {
    kind,
    tags: folderTags,
    fields: [
      { name: "username", value: username },
      { name: "password", value: password },
      ...[...urls, ...otherUrls].map((url): Field => ({ name: "url", value: url })),
      ...toCardFields(card),
      ...identity.rest(),
      ...sshKey.rest(),
      ...customFields,
      ...login.rest(),
      ...item.rest(),
      ...history,
    ],
    note,
    otp: [otp],
    passkeys,
    isFavorite,
    members: item,
  };
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

function toCardFields(card: Members): Field[] {
  const [month, year] = [card.text("expMonth"), card.text("expYear")];
  return [
    { name: "holder", value: card.text("cardholderName") },
    { name: "brand", value: card.text("brand") },
    { name: "number", value: card.text("number") },
    { name: "expiry", value: [month, year].filter((part) => part !== null).join("/") },
    { name: "code", value: card.text("code") },
    ...card.rest(),
  ];
}
