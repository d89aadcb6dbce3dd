import { z } from "zod";

import { ownFields } from "./bitwarden.ts";
import { jsonOf, maybe } from "./decode.ts";
import { Items, type Entry, type Field } from "./items.ts";
import { Refused } from "./refused.ts";
import type { Words } from "./words.ts";

const Item = z.object({
  itemId: maybe,
  aliasEmail: maybe,
  data: z.object({
    type: z.string(),
    metadata: z.object({ name: maybe, note: maybe }),
    extraFields: z.array(z.object({ fieldName: maybe, type: maybe, data: z.object({ content: maybe, totpUri: maybe }) })).catch([]),
    content: z.record(z.string(), z.unknown()).catch({}),
  }),
});
const Export = z.object({ encrypted: z.boolean().optional(), vaults: z.record(z.string(), z.object({ name: maybe, items: z.array(z.unknown()) })) });

const kinds: Readonly<Record<string, Entry["kind"]>> = { login: "login", note: "note", creditCard: "card", identity: "identity" };
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

/** Proton Pass's JSON, which stands in a ZIP file. @throws Refused `encrypted`, `damaged`. */
export function readProton(text: string, words: Words): Items {
  const { encrypted, vaults } = jsonOf(Export, text);
  if (encrypted === true) throw new Refused("encrypted");
  const items = new Items("proton_pass", words);
  for (const { name: vault, items: given } of Object.values(vaults)) {
    for (const [at, one] of given.entries()) {
      const item = Item.safeParse(one);
      if (!item.success) {
        items.fail(`${vault ?? ""} ${String(at + 1)}`, "damaged");
        continue;
      }
      const { itemId, aliasEmail, data } = item.data;
      const { urls, totpUri, ...content } = data.content;
      const texts = Object.entries(content).flatMap(([name, value]): [string, string][] => (typeof value === "string" ? [[name, value]] : []));
      items.add({
        kind: kinds[data.type] ?? "other",
        title: data.metadata.name,
        tags: [vault],
        fields: [
          ...texts.flatMap(([name, value]): Field[] => (known[name] === undefined ? ownFields({ [name]: value }) : [{ name: known[name], value }])),
          { name: "email", value: aliasEmail },
          ...(Array.isArray(urls) ? urls.map((url): Field => ({ name: "url", value: String(url) })) : []),
          ...data.extraFields.map((field): Field => ({ name: { own: field.fieldName ?? "…" }, value: field.data.content })),
        ],
        note: data.metadata.note,
        otp: [typeof totpUri === "string" ? totpUri : null, ...data.extraFields.map((field) => field.data.totpUri)],
        id: itemId,
        place: data.metadata.name ?? String(at + 1),
      });
    }
  }
  return items;
}
