import { Audience, bytesB64u, Counter, Digest, ShareId } from "@relicario/shared/api";
import { z } from "zod";

import { wrappedItems } from "../device/wrapped-items.ts";
import type { Shares } from "../seal/shares.ts";
import { readKeyring, type KeyringView } from "../steps/read-keyring.ts";
import type { VaultContext } from "../vault-context.ts";

/**
 * A link that was made here. Its key is nowhere else before the account is seen to carry the share.
 */
const NewShare = z.strictObject({
  share_id: ShareId,
  audience: Audience,
  link_key: bytesB64u(32, { exact: true }),
  /** Of every change that left with it. */
  sent: z.array(z.strictObject({ state_rev: Counter, sha256: Digest })).min(1),
});
export type NewShare = z.infer<typeof NewShare>;

const newShares = wrappedItems("newShares", z.array(NewShare));

/** Written before it is sent, in the place of what was kept of the same share. `storage_full`. */
export function keepNewShare(vault: VaultContext, share: NewShare): Promise<void> {
  return newShares.change(vault.device, (kept) => [...kept.filter((one) => one.share_id !== share.share_id), share]);
}

export function forgetNewShare(vault: VaultContext, shareId: string): Promise<void> {
  return newShares.change(vault.device, (kept) => kept.filter((one) => one.share_id !== shareId));
}

/**
 * Links that no verified account carries yet. Those in its document are forgotten here, and those
 * that can no longer come: it has passed the states that they left with, without them.
 */
export async function waitingShares(
  vault: VaultContext,
  { keyring }: KeyringView,
  { shares }: Shares,
): Promise<NewShare[]> {
  const waiting: NewShare[] = [];
  for (const share of await newShares.read(vault.device)) {
    const isCarried = shares.some(({ share_id: id }) => id === share.share_id);
    const hasPassed = share.sent.every(({ state_rev: rev }) => rev <= keyring.state_rev);
    if (isCarried || hasPassed) await forgetNewShare(vault, share.share_id);
    else waiting.push(share);
  }
  return waiting;
}

/** Reads the account, and forgets the links that it carries. */
export async function settleNewShares(vault: VaultContext): Promise<void> {
  if ((await vault.device.read()).newShares === null) return;
  const view = await readKeyring(vault);
  if (view?.opened != null) await waitingShares(vault, view, view.opened.shares);
}
