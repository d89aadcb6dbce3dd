import { Audience, base64urlBytes, PositiveInt, Digest, ShareId } from "@relicario/shared/api";
import { z } from "zod";

import { createWrappedItems } from "../device/wrapped-items.ts";
import type { Shares } from "../seal/shares.ts";
import { refreshKeyring } from "../keyring/refresh-keyring.ts";
import type { KeyringView } from "../session/keyring-views.ts";
import type { VaultSession } from "../session/vault-session.ts";

/** A created link, whose key is stored only here until the verified account lists the share. */
const UnconfirmedShare = z.strictObject({
  share_id: ShareId,
  audience: Audience,
  link_key: base64urlBytes(32, { exact: true }),
  /** States of all changes that were sent with the share. */
  sent: z.array(z.strictObject({ state_rev: PositiveInt, sha256: Digest })).min(1),
});
export type UnconfirmedShare = z.infer<typeof UnconfirmedShare>;

const unconfirmedShares = createWrappedItems("newShares", z.array(UnconfirmedShare));

/**
 * Saves a share before its change is sent; replaces an earlier save of it. Throws `storage_full`.
 */
export function saveUnconfirmedShare(vault: VaultSession, share: UnconfirmedShare): Promise<void> {
  return unconfirmedShares.change(vault.device, (shares) => [
    ...shares.filter((candidate) => candidate.share_id !== share.share_id),
    share,
  ]);
}

export function removeUnconfirmedShare(vault: VaultSession, shareId: string): Promise<void> {
  return unconfirmedShares.change(vault.device, (shares) =>
    shares.filter((candidate) => candidate.share_id !== shareId),
  );
}

/**
 * Returns links that no verified account lists yet. Removes those in the document, and those that
 * can no longer be published, because the account reached the states of their changes without them.
 */
export async function listUnconfirmedShares(
  vault: VaultSession,
  { keyring }: KeyringView,
  { shares }: Shares,
): Promise<UnconfirmedShare[]> {
  const unconfirmed: UnconfirmedShare[] = [];
  for (const share of await unconfirmedShares.read(vault.device)) {
    const isPublished = shares.some(({ share_id: id }) => id === share.share_id);
    const isSuperseded = share.sent.every(({ state_rev: rev }) => rev <= keyring.state_rev);
    if (isPublished || isSuperseded) await removeUnconfirmedShare(vault, share.share_id);
    else unconfirmed.push(share);
  }
  return unconfirmed;
}

export async function reconcileUnconfirmedShares(vault: VaultSession): Promise<void> {
  if ((await vault.device.read()).newShares === null) return;
  const view = await refreshKeyring(vault);
  if (view?.openedKeyring != null) await listUnconfirmedShares(vault, view, view.openedKeyring.shares);
}
