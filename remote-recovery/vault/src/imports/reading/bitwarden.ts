import { z } from "zod";

import { jsonOf, maybe } from "./decode.ts";
import { firstOf, membersOf, parsed } from "./facts.ts";
import type { Field } from "./field.ts";
import { Items, type Entry } from "./items.ts";
import { Refused } from "./refused.ts";
import type { Words } from "./words.ts";

const named = z.array(z.object({ id: z.string(), name: maybe })).catch([]);
const facts = z.record(z.string(), z.unknown()).nullish();

const Passkey = z.looseObject({ rpId: maybe, rpName: maybe, userName: maybe, userDisplayName: maybe });
const Item = z.looseObject({
  id: maybe,
  type: z.int().catch(0),
  name: maybe,
  notes: maybe,
  folderId: maybe,
  favorite: z.boolean().nullish().catch(null),
  collectionIds: z.array(z.string()).nullish(),
  fields: z.array(z.object({ name: maybe, value: maybe })).nullish(),
  login: z
    .looseObject({
      uris: z.array(z.object({ uri: maybe })).nullish(),
      username: maybe,
      password: maybe,
      totp: maybe,
      fido2Credentials: z.array(Passkey).nullish(),
    })
    .nullish(),
  card: facts,
  identity: facts,
  sshKey: facts,
  passwordHistory: z.array(z.object({ password: maybe, lastUsedDate: maybe })).nullish(),
  deletedDate: maybe,
  attachments: z.array(z.looseObject({ fileName: maybe })).nullish(),
});
/** What is read below, and what Bitwarden itself has written into an item. */
const knownOfItem = [
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
const knownOfLogin = [
  "uris",
  "uri",
  "username",
  "password",
  "totp",
  "fido2Credentials",
  "passwordRevisionDate",
  "autofillOnPageLoad",
];
const knownOfCard = ["cardholderName", "brand", "number", "expMonth", "expYear", "code"];

const Export = z.object({
  encrypted: z.boolean().optional(),
  folders: named,
  collections: named,
  items: z.array(z.unknown()),
});
const Named = z.object({ name: z.string() });

const kinds: Readonly<Record<number, Entry["kind"]>> = { 1: "login", 2: "note", 3: "card", 4: "identity" };

/**
 * The files beside the JSON in an archive: paths as `attachments/<item id>/<name>`, and how one is
 * read.
 */
export interface BesideBitwarden {
  readonly paths: readonly string[];
  /** Null where it cannot be read, which is then said of the item. */
  readonly read: (items: Items, path: string, place: string) => Promise<Blob | null>;
}

/**
 * Bitwarden's JSON, of a person or an organisation; in an archive with its attachments. @throws
 * Refused `encrypted`, `damaged`.
 */
export async function readBitwarden(
  text: string,
  words: Words,
  beside: BesideBitwarden = { paths: [], read: () => Promise.resolve(null) },
): Promise<Items> {
  if (jsonOf(z.object({ encrypted: z.boolean().optional() }), text).encrypted === true) throw new Refused("encrypted");
  const { folders, collections, items: given } = jsonOf(Export, text);
  const names = new Map([...folders, ...collections].map(({ id, name }) => [id, name]));
  const items = new Items("bitwarden_json", words);
  const files = filesByItem(beside.paths);
  const known = new Set<string>();
  for (const [at, one] of given.entries()) {
    const item = parsed(Item, one);
    if (item?.id != null) known.add(item.id);
    const place = firstOf(Named.safeParse(one).data?.name) ?? String(at + 1);
    if (item === null) {
      items.fail(place, "damaged");
      continue;
    }
    if (item.deletedDate !== null) {
      items.fail(place, "in_trash");
      continue;
    }
    const { id, type, name, notes, folderId, collectionIds, fields, login } = item;
    const attached = (id == null ? undefined : files.get(id)) ?? [];
    const absent = (item.attachments ?? []).filter(({ fileName }) => !attached.some(({ name }) => name === fileName));
    for (const { fileName } of absent) items.fail(`${place}: ${fileName ?? "?"}`, "missing_file");
    const attachments = [];
    for (const { path, name } of attached) {
      const content = await beside.read(items, path, `${place}: ${name}`);
      if (content !== null) attachments.push({ name, content });
    }
    items.add({
      kind: kinds[type] ?? "other",
      title: name,
      tags: [...(folderId ?? "").split("\n"), ...(collectionIds ?? [])].flatMap((tag) =>
        (names.get(tag) ?? "").split("/"),
      ),
      fields: [
        { name: "username", value: login?.username },
        { name: "password", value: login?.password },
        ...(login?.uris ?? []).map(({ uri }): Field => ({ name: "url", value: uri })),
        ...cardFields(item.card ?? {}),
        ...membersOf(item.identity ?? {}, []),
        ...membersOf(item.sshKey ?? {}, []),
        ...(fields ?? []).map((field): Field => ({ name: { own: field.name ?? "…" }, value: field.value })),
        ...membersOf(login ?? {}, knownOfLogin),
        ...membersOf(item, knownOfItem),
        ...(item.passwordHistory ?? []).map(({ password, lastUsedDate }): Field => ({
          name: "password",
          value: password,
          former: lastUsedDate,
        })),
      ],
      note: notes,
      otp: [login?.totp],
      passkeys: (login?.fido2Credentials ?? []).map(({ rpId, rpName, userName, userDisplayName }) => [
        firstOf(rpId, rpName),
        firstOf(userName, userDisplayName),
      ]),
      id,
      place,
      isFavorite: item.favorite === true,
      attachments,
      hasFailed: absent.length > 0 || attachments.length < attached.length,
    });
  }
  for (const { path, name } of [...files].flatMap(([id, ofItem]) => (known.has(id) ? [] : ofItem))) {
    // its item is not in the JSON, or could not be read: the file is kept by itself
    const content = await beside.read(items, path, name);
    if (content !== null)
      items.file({
        kind: "attachment",
        title: name,
        tags: [],
        name,
        mime: "application/octet-stream",
        content,
        which: path,
      });
  }
  return items;
}

function filesByItem(
  paths: readonly string[],
): ReadonlyMap<string, readonly { readonly path: string; readonly name: string }[]> {
  const files = new Map<string, { readonly path: string; readonly name: string }[]>();
  for (const path of paths) {
    const [folder, id, ...name] = path.split("/");
    if (folder !== "attachments" || id === undefined || name.length === 0) continue;
    const ofItem = files.get(id) ?? [];
    ofItem.push({ path, name: name.join("/") });
    files.set(id, ofItem);
  }
  return files;
}

function cardFields(card: Readonly<Record<string, unknown>>): Field[] {
  const text = (name: string): string | null => maybe.parse(card[name]);
  const expiry = [text("expMonth"), text("expYear")].filter((part) => part !== null && part !== "").join("/");
  return [
    { name: "holder", value: text("cardholderName") },
    { name: "brand", value: text("brand") },
    { name: "number", value: text("number") },
    { name: "expiry", value: expiry },
    { name: "code", value: text("code") },
    ...membersOf(card, knownOfCard),
  ];
}
