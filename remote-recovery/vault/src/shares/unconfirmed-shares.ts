import { Audience, base64urlBytes, PositiveInt, Digest, ShareId } from "@relicario/shared/api";
import { z } from "zod";

import { createWrappedItems } from "../device/wrapped-items.ts";
import type { Shares } from "../seal/shares.ts";
import { refreshKeyring } from "../keyring/refresh-keyring.ts";
import type { KeyringView } from "../session/keyring-views.ts";
import type { VaultSession } from "../session/vault-session.ts";

/**
 * A link that was made here. Its key is nowhere else before the account is seen to carry the share.
 */
const UnconfirmedShare = z.strictObject({
  share_id: ShareId,
  audience: Audience,
  link_key: base64urlBytes(32, { exact: true }),
  /** Of every change that left with it. */
  sent: z.array(z.strictObject({ state_rev: PositiveInt, sha256: Digest })).min(1),
});
export type UnconfirmedShare = z.infer<typeof UnconfirmedShare>;

const unconfirmedShares = createWrappedItems("newShares", z.array(UnconfirmedShare));

/** Written before it is sent, in the place of what was kept of the same share. `storage_full`. */
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
 * Links that no verified account carries yet. Those in its document are forgotten here, and those
 * that can no longer come: it has passed the states that they left with, without them.
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

/** Reads the account, and forgets the links that it carries. */
export async function reconcileUnconfirmedShares(vault: VaultSession): Promise<void> {
  if ((await vault.device.read()).newShares === null) return;
  const view = await refreshKeyring(vault);
  if (view?.openedKeyring != null) await listUnconfirmedShares(vault, view, view.openedKeyring.shares);
}
