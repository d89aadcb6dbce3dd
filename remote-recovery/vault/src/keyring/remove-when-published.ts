import type { KeyringChange } from "@relicario/shared/api";
import { PortalError } from "@relicario/shared/errors";

import type { SentState } from "../device/sent-state.ts";
import { parseUnverifiedPrevious, computeStateDigest } from "../seal/state.ts";
import type { VaultSession } from "../session/vault-session.ts";
import { readAccount, type AccountView } from "./read-account.ts";

/*
 * [Note: Only keys] A record of this device that holds the only key of something (an upload, what
 * is pending, a share just made) goes when the account shows that the change which carries it was
 * published, and never on the service's word.
 *
 * 1. Before a keyring change leaves, its state is written into that record, durably, beside those
 *    that were sent before.
 * 2. The account is read and verified: the newest state opens under its keys, and list, book and
 *    shares fit it.
 * 3. From this state `previous` is followed back, by digests alone. One of those that were sent is
 *    it, or is met on the way: then every device that holds this account has seen that change,
 *    whatever was done to the row since. Only then the record is removed.
 */

export function toSentState({ state_rev, state }: KeyringChange): SentState {
  return { state_rev, sha256: computeStateDigest(state) };
}

/**
 * Reads the account, and removes a record once one of its states is seen there.
 *
 * @param sentStates of every change that left with it
 * @returns whether it was seen, and removed. False where nothing was ever kept.
 * @throws PortalError `vault_locked`, and those of reading; the record is still there then.
 */
export async function removeWhenPublished(
  vault: VaultSession,
  sentStates: readonly SentState[],
  remove: () => Promise<void>,
  signal?: AbortSignal,
): Promise<boolean> {
  const account = sentStates.length === 0 ? null : await readAccount(vault, signal);
  if (account === null || !(await accountDescendsFrom(vault, account, sentStates, signal))) return false;
  await remove();
  return true;
}

/**
 * Whether a verified account comes from one of these states.
 *
 * @throws PortalError `vault_locked`.
 */
export async function accountDescendsFrom(
  vault: VaultSession,
  { view }: AccountView,
  sentStates: readonly SentState[],
  signal?: AbortSignal,
): Promise<boolean> {
  if (view.openedKeyring === null) throw new PortalError("vault_locked");
  const sentDigests = new Set(sentStates.map(({ sha256 }) => sha256));
  let digest: string | null = computeStateDigest(view.keyring.state);
  if (sentDigests.has(digest)) return true;
  const earliestRev = Math.min(...sentStates.map(({ state_rev: rev }) => rev));
  if (earliestRev >= view.keyring.state_rev) return false;
  const keyring = await vault.service.getKeyring(earliestRev - 1, signal);
  for (const { state_rev: rev, state } of (keyring?.states ?? []).toReversed()) {
    if (rev > view.keyring.state_rev) continue; // written since the account was read
    if (computeStateDigest(state) !== digest) return false;
    if (sentDigests.has(digest)) return true;
    digest = parseUnverifiedPrevious(state);
  }
  return false;
}
