import { z } from "zod";

import { jsonOf, maybe } from "./decode.ts";
import { Items, type Entry, type Field } from "./items.ts";
import { Refused } from "./refused.ts";
import type { Words } from "./words.ts";

const named = z.array(z.object({ id: z.string(), name: maybe })).catch([]);
const facts = z.record(z.string(), maybe).nullish().catch(null);

const Item = z.object({
  id: maybe,
  type: z.int().catch(0),
  name: maybe,
  notes: maybe,
  folderId: maybe,
  collectionIds: z.array(z.string()).nullish().catch(null),
  fields: z.array(z.object({ name: maybe, value: maybe })).nullish().catch(null),
  login: z.object({ uris: z.array(z.object({ uri: maybe })).nullish().catch(null), username: maybe, password: maybe, totp: maybe }).nullish().catch(null),
  card: facts,
  identity: facts,
  sshKey: facts,
});

const Export = z.object({ encrypted: z.boolean().optional(), folders: named, collections: named, items: z.array(z.unknown()) });

const kinds: Readonly<Record<number, Entry["kind"]>> = { 1: "login", 2: "note", 3: "card", 4: "identity" };

/** Bitwarden's JSON, of a person or an organisation. @throws Refused `encrypted`, `damaged`. */
export function readBitwarden(text: string, words: Words): Items {
  if (jsonOf(z.object({ encrypted: z.boolean().optional() }), text).encrypted === true) throw new Refused("encrypted");
  const { folders, collections, items: given } = jsonOf(Export, text);
  const names = new Map([...folders, ...collections].map(({ id, name }) => [id, name]));
  const items = new Items("bitwarden_json", words);
  for (const [at, one] of given.entries()) {
    const place = String(at + 1);
    const item = Item.safeParse(one);
    if (!item.success) {
      items.fail(place, "damaged");
      continue;
    }
    const { id, type, name, notes, folderId, collectionIds, fields, login } = item.data;
    items.add({
      kind: kinds[type] ?? "other",
      title: name,
      tags: [...(folderId ?? "").split("\n"), ...(collectionIds ?? [])].flatMap((tag) => (names.get(tag) ?? "").split("/")),
      fields: [
        { name: "username", value: login?.username },
        { name: "password", value: login?.password },
        ...(login?.uris ?? []).map(({ uri }): Field => ({ name: "url", value: uri })),
        ...cardFields(item.data.card ?? {}),
        ...ownFields(item.data.identity ?? {}),
        ...ownFields(item.data.sshKey ?? {}),
        ...(fields ?? []).map((field): Field => ({ name: { own: field.name ?? "…" }, value: field.value })),
      ],
      note: notes,
      otp: [login?.totp],
      id,
      place: name ?? place,
    });
  }
  return items;
}

function cardFields(card: Readonly<Record<string, string | null>>): Field[] {
  const expiry = [card["expMonth"], card["expYear"]].filter((part) => part != null && part !== "").join("/");
  return [
    { name: "holder", value: card["cardholderName"] },
    { name: "brand", value: card["brand"] },
    { name: "number", value: card["number"] },
    { name: "expiry", value: expiry },
    { name: "code", value: card["code"] },
  ];
}

/** Under the names that they have in the file, as words. */
export function ownFields(facts: Readonly<Record<string, string | null>>): Field[] {
  return Object.entries(facts).map(([name, value]) => ({ name: { own: name.replace(/([a-z])([A-Z])/g, "$1 $2").replace(/^./, (letter) => letter.toUpperCase()) }, value }));
}
