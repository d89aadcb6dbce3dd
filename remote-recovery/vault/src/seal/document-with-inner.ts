import type { Json } from "@relicario/shared/api";
import type { z } from "zod";

import type { AccountKey, MetadataKeys } from "./account-key.ts";
import { wipe } from "./bytes.ts";
import { importAesKey, jweTypes, openJwe, sealJwe, type JweHeader } from "./document.ts";

/**
 * Documents with an `inner` part, which is sealed with a key derived only from the account key, so
 * that metadata keys cannot open it.
 */
export type OuterDocumentName = "book" | "shares" | "requests";

/**
 * Seals and opens such a document. Opening throws PortalError `decryption_failed` on every
 * mismatch.
 */
export interface DocumentWithInner<Outer, Inner> {
  readonly seal: (keys: MetadataKeys, userId: string, document: Outer) => Promise<string>;
  readonly open: (keys: MetadataKeys, userId: string, jwe: string) => Promise<Outer>;
  readonly sealInner: (accountKey: AccountKey, userId: string, inner: Inner) => Promise<string>;
  readonly openInner: (accountKey: AccountKey, userId: string, document: Outer) => Promise<Inner>;
}

/** Writers that have only metadata keys copy `inner` unchanged. */
export function defineDocumentWithInner<Outer extends Json & { readonly inner: string }, Inner extends Json>(
  outerName: OuterDocumentName,
  outerSchema: z.ZodType<Outer>,
  innerSchema: z.ZodType<Inner>,
): DocumentWithInner<Outer, Inner> {
  const outerHeader = (userId: string, { keyEpoch }: MetadataKeys): JweHeader => ({
    typ: jweTypes[outerName],
    user_id: userId,
    key_epoch: keyEpoch,
  });
  const innerHeader = (userId: string, { keyEpoch }: AccountKey): JweHeader => ({
    typ: jweTypes.inner,
    user_id: userId,
    key_epoch: keyEpoch,
    of: outerName,
  });
  return {
    seal: (keys, userId, document) => sealJwe(keys[outerName], outerHeader(userId, keys), document),
    open: (keys, userId, jwe) => openJwe(keys[outerName], outerHeader(userId, keys), jwe, outerSchema),
    sealInner: (accountKey, userId, document) =>
      withInnerKey(accountKey, (key) => sealJwe(key, innerHeader(userId, accountKey), document)),
    openInner: (accountKey, userId, document) =>
      withInnerKey(accountKey, (key) => openJwe(key, innerHeader(userId, accountKey), document.inner, innerSchema)),
  };
}

async function withInnerKey<T>(accountKey: AccountKey, callback: (key: CryptoKey) => Promise<T>): Promise<T> {
  const bytes = accountKey.derive("relicario/v1/inner");
  try {
    return await callback(await importAesKey(bytes));
  } finally {
    wipe(bytes);
  }
}
