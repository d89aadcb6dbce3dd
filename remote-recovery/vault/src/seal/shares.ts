import { bytesB64u, Counter, Id, Recipient } from "@relicario/shared/api";
import { z } from "zod";

import type { AccountKeys } from "./account-key.ts";
import { jweTypes, openJwe, sealJwe, type JweHeader } from "./document.ts";

/** What the account remembers of its own shares; made empty with the account. */
export const Shares = z.strictObject({
  v: z.literal(1),
  shares: z.array(
    z.strictObject({
      share_id: bytesB64u(16, { exact: true }),
      secret_id: Id,
      audience: z.enum(["public", "signed_in", "person"]),
      /** Of a link; null for a person. */
      link_key: bytesB64u(32, { exact: true }).nullable(),
      /** Of a person; null for a link. */
      recipient: Recipient.nullable(),
      rev: Counter,
    }),
  ),
});
export type Shares = z.infer<typeof Shares>;

export function emptyShares(): Shares {
  return { v: 1, shares: [] };
}

function header(userId: string, keys: AccountKeys): JweHeader {
  return { typ: jweTypes.shares, user_id: userId, key_epoch: keys.keyEpoch };
}

export function sealShares(keys: AccountKeys, userId: string, shares: Shares): Promise<string> {
  return sealJwe(keys.shares, header(userId, keys), shares);
}

/** @throws PortalError `decryption_failed`. */
export function openShares(keys: AccountKeys, userId: string, jwe: string): Promise<Shares> {
  return openJwe(keys.shares, header(userId, keys), jwe, Shares);
}
