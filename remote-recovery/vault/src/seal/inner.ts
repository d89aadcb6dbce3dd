import type { Json } from "@relicario/shared/api";
import type { z } from "zod";

import type { AccountKey, TitlesKeys } from "./account-key.ts";
import { wipe } from "./bytes.ts";
import { importAesKey, jweTypes, openJwe, sealJwe, type JweHeader } from "./document.ts";

/**
 * Documents that have an `inner`: what no titles key opens, sealed under a key of the account key
 * alone.
 */
export type InnerOf = "book" | "shares" | "requests";

/**
 * Sealing and opening of one of them. Every opening throws a PortalError `decryption_failed` for
 * whatever does not fit.
 */
export interface DocumentWithInner<Outer, Inner> {
  readonly seal: (keys: TitlesKeys, userId: string, document: Outer) => Promise<string>;
  readonly open: (keys: TitlesKeys, userId: string, jwe: string) => Promise<Outer>;
  readonly sealInner: (accountKey: AccountKey, userId: string, inner: Inner) => Promise<string>;
  readonly openInner: (accountKey: AccountKey, userId: string, document: Outer) => Promise<Inner>;
}

/** Who holds titles keys alone carries `inner` over byte for byte. */
export function documentWithInner<Outer extends Json & { readonly inner: string }, Inner extends Json>(
  of: InnerOf,
  outer: z.ZodType<Outer>,
  inner: z.ZodType<Inner>,
): DocumentWithInner<Outer, Inner> {
  const header = (userId: string, { keyEpoch }: TitlesKeys): JweHeader => ({
    typ: jweTypes[of],
    user_id: userId,
    key_epoch: keyEpoch,
  });
  const innerHeader = (userId: string, { keyEpoch }: AccountKey): JweHeader => ({
    typ: jweTypes.inner,
    user_id: userId,
    key_epoch: keyEpoch,
    of,
  });
  return {
    seal: (keys, userId, document) => sealJwe(keys[of], header(userId, keys), document),
    open: (keys, userId, jwe) => openJwe(keys[of], header(userId, keys), jwe, outer),
    sealInner: (accountKey, userId, document) =>
      withInnerKey(accountKey, (key) => sealJwe(key, innerHeader(userId, accountKey), document)),
    openInner: (accountKey, userId, document) =>
      withInnerKey(accountKey, (key) => openJwe(key, innerHeader(userId, accountKey), document.inner, inner)),
  };
}

async function withInnerKey<T>(accountKey: AccountKey, work: (key: CryptoKey) => Promise<T>): Promise<T> {
  const bytes = accountKey.derive("relicario/v1/inner");
  try {
    return await work(await importAesKey(bytes));
  } finally {
    wipe(bytes);
  }
}
