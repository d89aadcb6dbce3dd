import type { KeyringChange } from "@relicario/shared/api";
import { PortalError } from "@relicario/shared/errors";

import type { SentState } from "../device/sent-state.ts";
import { previousOf, stateDigest } from "../seal/state.ts";
import type { VaultContext } from "../vault-context.ts";
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

export function sentState({ state_rev, state }: KeyringChange): SentState {
  return { state_rev, sha256: stateDigest(state) };
}

/**
 * Reads the account, and removes a record once one of its states is seen there.
 *
 * @param sent of every change that left with it
 * @returns whether it was seen, and removed. False where nothing was ever kept.
 * @throws PortalError `vault_locked`, and those of reading; the record is still there then.
 */
export async function forgetWhenPublished(
  vault: VaultContext,
  sent: readonly SentState[],
  forget: () => Promise<void>,
  signal?: AbortSignal,
): Promise<boolean> {
  const account = sent.length === 0 ? null : await readAccount(vault, signal);
  if (account === null || !(await leadsBackTo(vault, account, sent, signal))) return false;
  await forget();
  return true;
}

/**
 * Whether a verified account comes from one of these states.
 *
 * @throws PortalError `vault_locked`.
 */
export async function leadsBackTo(
  vault: VaultContext,
  { view }: AccountView,
  sent: readonly SentState[],
  signal?: AbortSignal,
): Promise<boolean> {
  if (view.opened === null) throw new PortalError("vault_locked");
  const wanted = new Set(sent.map(({ sha256 }) => sha256));
  let met: string | null = stateDigest(view.keyring.state);
  if (wanted.has(met)) return true;
  const first = Math.min(...sent.map(({ state_rev: rev }) => rev));
  if (first >= view.keyring.state_rev) return false;
  const given = await vault.service.keyring(first - 1, signal);
  for (const { state_rev: rev, state } of (given?.states ?? []).toReversed()) {
    if (rev > view.keyring.state_rev) continue; // written since the account was read
    if (stateDigest(state) !== met) return false;
    if (wanted.has(met)) return true;
    met = previousOf(state);
  }
  return false;
}
