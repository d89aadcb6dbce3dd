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

/** The account's own shares as opened with the metadata keys; created empty with the account. */
export const Shares = z.strictObject({
  v: z.literal(1),
  shares: z.array(
    z.strictObject({
      share_id: ShareId,
      secret_id: Id,
      version: PositiveInt,
      audience: z.enum(["public", "signed_in", "person"]),
      rev: PositiveInt,
      /** Digest of the sealed ticket with revision `rev`. */
      ticket_sha256: Digest,
      created_at: Timestamp,
      expires_at: Timestamp,
      revoked_at: Timestamp.nullable(),
    }),
  ),
  /** Sealed {@link SharesInner}. */
  inner: compactJwe(maxBookLength),
});
export type Shares = z.infer<typeof Shares>;

/** The part of the shares that only the account key opens. */
export const SharesInner = z.strictObject({
  v: z.literal(1),
  shares: z.array(
    z.strictObject({
      share_id: ShareId,
      /** Key of the share's link; null if shared with a person. */
      link_key: base64urlBytes(32, { exact: true }).nullable(),
      /** Recipient of the person; null if shared by link. */
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

export async function createEmptyShares(accountKey: AccountKey, userId: string): Promise<Shares> {
  return { v: 1, shares: [], inner: await sealSharesInner(accountKey, userId, { v: 1, shares: [] }) };
}
