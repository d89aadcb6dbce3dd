import {
  base64urlBytes,
  compactJwe,
  PositiveInt,
  Digest,
  Id,
  maxBookLength,
  Recipient,
  Timestamp,
} from "@relicario/shared/api";
import { z } from "zod";

import type { AccountKey } from "./account-key.ts";
import { defineDocumentWithInner } from "./document-with-inner.ts";

const ShareId = base64urlBytes(16, { exact: true });

/** What the metadata keys show of the account's own shares; made empty with the account. */
export const Shares = z.strictObject({
  v: z.literal(1),
  shares: z.array(
    z.strictObject({
      share_id: ShareId,
      secret_id: Id,
      version: PositiveInt,
      audience: z.enum(["public", "signed_in", "person"]),
      rev: PositiveInt,
      /** Of the sealed ticket that `rev` numbers. */
      ticket_sha256: Digest,
      created_at: Timestamp,
      expires_at: Timestamp,
      revoked_at: Timestamp.nullable(),
    }),
  ),
  /** {@link SharesInner}, sealed. */
  inner: compactJwe(maxBookLength),
});
export type Shares = z.infer<typeof Shares>;

/** What the account key alone shows. */
export const SharesInner = z.strictObject({
  v: z.literal(1),
  shares: z.array(
    z.strictObject({
      share_id: ShareId,
      /** Of a link; null for a person. */
      link_key: base64urlBytes(32, { exact: true }).nullable(),
      /** Of a person; null for a link. */
      recipient: Recipient.nullable(),
    }),
  ),
});
export type SharesInner = z.infer<typeof SharesInner>;

export const {
  seal: sealShares,
  open: openShares,
  sealInner: sealSharesInner,
  openInner: openSharesInner,
} = defineDocumentWithInner("shares", Shares, SharesInner);

/** Those of a new account. */
export async function createEmptyShares(accountKey: AccountKey, userId: string): Promise<Shares> {
  return { v: 1, shares: [], inner: await sealSharesInner(accountKey, userId, { v: 1, shares: [] }) };
}
