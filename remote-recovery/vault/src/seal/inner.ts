import type { Json } from "@relicario/shared/api";
import type { z } from "zod";

import { importAesKey, type AccountKey } from "./account-key.ts";
import { wipe } from "./bytes.ts";
import { jweTypes, openJwe, sealJwe, type JweHeader } from "./document.ts";

/**
 * The `inner` of book, shares and requests: what no titles key opens, sealed under a key of the account key alone. Who holds
 * titles keys carries it over byte for byte.
 */
export type InnerOf = "book" | "shares" | "requests";

function header(userId: string, { keyEpoch }: AccountKey, of: InnerOf): JweHeader {
  return { typ: jweTypes.inner, user_id: userId, key_epoch: keyEpoch, of };
}

export function sealInner(accountKey: AccountKey, userId: string, of: InnerOf, document: Json): Promise<string> {
  return withInnerKey(accountKey, (key) => sealJwe(key, header(userId, accountKey, of), document));
}

/** @throws PortalError `decryption_failed`. */
export function openInner<T>(accountKey: AccountKey, userId: string, of: InnerOf, jwe: string, schema: z.ZodType<T>): Promise<T> {
  return withInnerKey(accountKey, (key) => openJwe(key, header(userId, accountKey, of), jwe, schema));
}

async function withInnerKey<T>(accountKey: AccountKey, work: (key: CryptoKey) => Promise<T>): Promise<T> {
  const bytes = accountKey.derive("relicario/v1/inner");
  try {
    return await work(await importAesKey(bytes));
  } finally {
    wipe(bytes);
  }
}
