import type { Keyring } from "@relicario/shared/api";
import { isPortalError, PortalError } from "@relicario/shared/errors";

import { computeStateDigest } from "../seal/state.ts";
import type { OlderState } from "../session/checkpoints.ts";
import type { KeyringView } from "../session/keyring-views.ts";
import type { VaultSession } from "../session/vault-session.ts";
import { createOlderStateError, fetchUnopenedKeyring, fetchVerifiedKeyring, type Witness } from "./fetch-keyring.ts";

/**
 * Whether {@link refreshKeyring} throws after dropping a pending account that another keyring
 * supersedes.
 */
export type PendingConflictPolicy = "drop_and_throw" | "drop";

/**
 * Fetches and verifies the keyring, and applies it to the session. Null if the account was never
 * created.
 *
 * @throws PortalError `pending_dropped`, and those of {@link fetchVerifiedKeyring}
 */
export async function refreshKeyring(
  vault: VaultSession,
  signal?: AbortSignal,
  conflictPolicy: PendingConflictPolicy = "drop_and_throw",
  witness: Witness | null = null,
): Promise<KeyringView | null> {
  const stopWhenSuperseded = conflictPolicy === "drop_and_throw";
  return vault.withRejectedState(() =>
    retryReadOnce(async () => {
      const verifiedKeyring = await fetchVerifiedKeyring(vault, { signal, witness, stopWhenSuperseded });
      await vault.apply(verifiedKeyring);
      if (verifiedKeyring?.pendingAccount.kind === "superseded" && stopWhenSuperseded)
        throw new PortalError("pending_dropped");
      return verifiedKeyring === null
        ? null
        : { keyring: verifiedKeyring.keyring, openedKeyring: verifiedKeyring.contents?.openedKeyring ?? null };
    }),
  );
}

/** @throws PortalError those of {@link fetchUnopenedKeyring} */
export function readUnopenedKeyring(vault: VaultSession, signal?: AbortSignal): Promise<Keyring> {
  return vault.withRejectedState(() => retryReadOnce(() => fetchUnopenedKeyring(vault, signal)));
}

/**
 * Whether a view was opened with the session's keys, and shows the newest state that any tab of
 * this device has verified. False while locked.
 */
export async function isLatest(vault: VaultSession, { keyring, openedKeyring }: KeyringView): Promise<boolean> {
  if (vault.keys === null || openedKeyring?.keys !== vault.keys) return false;
  const checkpoint = await vault.loadCheckpoint();
  return checkpoint?.stateRev === keyring.state_rev && checkpoint.stateSha256 === computeStateDigest(keyring.state);
}

/**
 * Repeats a reading before a mismatch is reported, because another device may have written between
 * two calls.
 */
export async function retryReadOnce<T>(read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (error) {
    if (!isPortalError(error, "older_state", "histories_differ", "list_mismatch", "keyring_missing")) throw error;
    return read();
  }
}

/**
 * Accepts the rejected state that the person chose after `older_state`. Does nothing if another
 * state was rejected since.
 *
 * @throws PortalError `older_state` if the service now sends another state
 */
export async function acceptOlderState(vault: VaultSession, chosen: OlderState): Promise<void> {
  const { rejectedState } = vault;
  if (rejectedState?.stateRev !== chosen.stateRev || rejectedState.stateSha256 !== chosen.stateSha256) return;
  await vault.withRejectedState(async () => {
    const keyring = await vault.service.getKeyring(null);
    if (keyring === null) throw new PortalError("keyring_missing");
    const isChosen = keyring.state_rev === chosen.stateRev && computeStateDigest(keyring.state) === chosen.stateSha256;
    if (!isChosen || !(await vault.acceptState(chosen)))
      throw createOlderStateError(keyring, await vault.loadCheckpoint());
    await refreshKeyring(vault);
  });
}
