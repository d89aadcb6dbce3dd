import type { KeyringChange } from "@relicario/shared/api";
import { PortalError } from "@relicario/shared/errors";

import type { SentState } from "../device/sent-state.ts";
import { parseUnverifiedPrevious, computeStateDigest } from "../seal/state.ts";
import type { VaultSession } from "../session/vault-session.ts";
import { readAccount, type AccountView } from "./read-account.ts";

/*
 * [Note: Only keys] Some records on this device hold the only copy of a key: an upload, a pending
 * account, a new share. Such a record is removed when the verified account shows that its change
 * was published, never because the service claims so.
 *
 * 1. Before a keyring change is sent, its state is added to that record, durably, next to the
 *    states of earlier changes.
 * 2. The account is read and verified: the newest state opens under its keys, and list, book and
 *    shares match the state.
 * 3. `previous` is followed back from this state by digests. If this finds one of the sent states,
 *    the account descends from that change, whatever has happened to the row since. Only then is
 *    the record removed.
 */

export function toSentState({ state_rev, state }: KeyringChange): SentState {
  return { state_rev, sha256: computeStateDigest(state) };
}

/**
 * Reads the account, and removes a record if the account descends from one of the record's states.
 *
 * @param sentStates states of all changes that were sent with the record
 * @returns whether the record was removed; false if the account was never created
 * @throws PortalError `vault_locked`, and errors of reading. The record then stays.
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
 * Whether a verified account descends from one of these states.
 *
 * @throws PortalError `vault_locked`
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
    if (rev > view.keyring.state_rev) continue; // written after the account was read
    if (computeStateDigest(state) !== digest) return false;
    if (sentDigests.has(digest)) return true;
    digest = parseUnverifiedPrevious(state);
  }
  return false;
}
