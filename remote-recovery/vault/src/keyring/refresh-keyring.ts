import type { Keyring } from "@relicario/shared/api";
import { isPortalError, PortalError } from "@relicario/shared/errors";

import { computeStateDigest } from "../seal/state.ts";
import type { OlderState } from "../session/checkpoints.ts";
import type { KeyringView } from "../session/keyring-views.ts";
import type { VaultSession } from "../session/vault-session.ts";
import { createOlderStateError, fetchUnopenedKeyring, fetchVerifiedKeyring, type Witness } from "./fetch-keyring.ts";

/** What to do when there is a keyring that does not open under the pending key. */
export type PendingConflictPolicy = "drop_and_throw" | "drop";

/**
 * Fetches and verifies the keyring, and lets the session take what it says. Null when nothing was
 * ever kept.
 *
 * @throws PortalError `pending_dropped`, and those of {@link fetchVerifiedKeyring}.
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
      const verified = await fetchVerifiedKeyring(vault, { signal, witness, stopWhenSuperseded });
      await vault.apply(verified);
      if (verified?.pending.kind === "superseded" && stopWhenSuperseded) throw new PortalError("pending_dropped");
      return verified === null
        ? null
        : { keyring: verified.keyring, openedKeyring: verified.opening?.openedKeyring ?? null };
    }),
  );
}

/** @throws PortalError those of {@link fetchUnopenedKeyring}. */
export function readUnopenedKeyring(vault: VaultSession, signal?: AbortSignal): Promise<Keyring> {
  return vault.withRejectedState(() => retryReadOnce(() => fetchUnopenedKeyring(vault, signal)));
}

/**
 * Whether a view was opened with the keys in use, and is of the newest state that this device has
 * seen, in any tab. Never of a locked vault.
 */
export async function isLatest(vault: VaultSession, { keyring, openedKeyring }: KeyringView): Promise<boolean> {
  if (vault.keys === null || openedKeyring?.keys !== vault.keys) return false;
  const remembered = await vault.loadCheckpoint();
  return remembered?.stateRev === keyring.state_rev && remembered.stateSha256 === computeStateDigest(keyring.state);
}

/**
 * One silent second reading before an alarm: another device may have written between two of our
 * calls.
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
 * The deliberate choice after `older_state`, for the one state that was shown.
 *
 * @throws PortalError `older_state` when the service gives yet another one by now.
 */
export async function acceptOlderState(vault: VaultSession, chosen: OlderState): Promise<void> {
  const { rejectedState } = vault;
  if (rejectedState?.stateRev !== chosen.stateRev || rejectedState.stateSha256 !== chosen.stateSha256) return;
  await vault.withRejectedState(async () => {
    const keyring = await vault.service.getKeyring(null);
    if (keyring === null) throw new PortalError("keyring_missing");
    if (keyring.state_rev !== chosen.stateRev || computeStateDigest(keyring.state) !== chosen.stateSha256)
      throw createOlderStateError(keyring, null);
    if (!(await vault.acceptState(chosen))) throw createOlderStateError(keyring, null);
    await refreshKeyring(vault);
  });
}
