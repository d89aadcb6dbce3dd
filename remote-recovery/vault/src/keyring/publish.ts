import { isPortalError, PortalError } from "@relicario/shared/errors";

import type { SignedChange, OpenedKeyring } from "../session/keyring-views.ts";
import { throwIfCancelled } from "../rpc/throw-if-cancelled.ts";
import type { OperationOptions } from "../session/operation-options.ts";
import type { VaultSession } from "../session/vault-session.ts";
import { readAccount, type AccountView } from "./read-account.ts";
import { refreshKeyring } from "./refresh-keyring.ts";
import { isResponseLost, sendWithRetry } from "../service/send-with-retry.ts";

export const maxConflictTries = 8;
/** A signed change, the call that sends it, and the writer's result if it succeeds. */
export interface Attempt<T> {
  readonly change: SignedChange;
  /** Sends the same bytes on every call, so that a lost response allows a repetition. */
  readonly send: () => Promise<unknown>;
  readonly result: T;
}

/** Builds a change from the current account at each attempt. */
export interface Writer<T> {
  /**
   * @param account null if it was never created
   * @returns an attempt, or the result as `done` if there is nothing to send
   */
  readonly prepare: (account: AccountView | null) => Promise<Attempt<T> | { readonly done: T }>;
  /**
   * Result of an earlier attempt that was published although its response was lost; null if
   * unknown.
   */
  readonly findPublished: (account: AccountView) => T | null;
  /** Called before the next attempt, with the account that {@link prepare} received. */
  readonly onConflict?: (account: AccountView | null) => Promise<void>;
}

/**
 * Reads and verifies the account, lets the writer prepare an attempt, and sends the attempt in one
 * call, which is one transaction. Starts again on `state_conflict` and `id_taken`, up to eight
 * times in total, with jitter. A device runs one writer at a time.
 *
 * @throws PortalError `state_conflict`, `version_conflict`, `cancelled` (only before sending), and
 *   errors of reading and of the writer. Nothing is published in part.
 */
export function publishWithRetry<T>(vault: VaultSession, writer: Writer<T>, options: OperationOptions): Promise<T> {
  return vault.runExclusive(async () => {
    for (let tries = 1; ; tries++) {
      throwIfCancelled(options.signal);
      const account = await readAccount(vault, options.signal);
      const published = account !== null && tries > 1 ? writer.findPublished(account) : null;
      if (published !== null) return published;
      const attempt = await writer.prepare(account);
      if ("done" in attempt) return attempt.done;
      throwIfCancelled(options.signal); // last chance: the service may publish what it receives
      options.onProgress?.({ phase: "sending", done: 0, total: 1 });
      try {
        await sendWithRetry(vault.pause, attempt.send);
        await commit(vault, attempt.change);
        options.onProgress?.({ phase: "sending", done: 1, total: 1 });
        return attempt.result;
      } catch (error) {
        // after a lost response, another device may have written too: the list shows whether ours
        // was published
        if (isResponseLost(error) || isPortalError(error, "version_conflict")) {
          const confirmed = await recheckPublished(vault, writer, options);
          if (confirmed !== null) return confirmed;
        }
        if (!isPortalError(error, "state_conflict", "id_taken") || tries >= maxConflictTries) throw error;
        await vault.pause(jitteredDelay(tries), options.signal);
        await writer.onConflict?.(account);
      }
    }
  });
}

/**
 * Null if there is no account yet.
 * @throws PortalError `vault_locked`
 */
export function requireOpenedKeyring(account: AccountView | null): OpenedKeyring | null {
  if (account === null) return null;
  if (account.view.openedKeyring === null) throw new PortalError("vault_locked");
  return account.view.openedKeyring;
}

/** Reads the account after a lost response. Null if it shows no attempt as published. */
async function recheckPublished<T>(
  vault: VaultSession,
  writer: Writer<T>,
  options: OperationOptions,
): Promise<T | null> {
  try {
    const account = await readAccount(vault, options.signal);
    return account === null ? null : writer.findPublished(account);
  } catch {
    return null; // the service is still unreachable, so the first error is thrown
  }
}

/**
 * Commits a published change to the session. First reads a new account back, because the service's
 * response alone is not trusted. Until then the pending account, which has the only copy of its
 * slot, stays on the device. If the connection is lost, the next reading commits it.
 *
 * @throws PortalError `publication_not_seen`, and errors of reading
 */
async function commit(vault: VaultSession, change: SignedChange): Promise<void> {
  if (change.createsAccount && !(await isPublicationVisible(vault))) throw new PortalError("publication_not_seen");
  await vault.commit(change);
}

async function isPublicationVisible(vault: VaultSession): Promise<boolean> {
  try {
    return (await refreshKeyring(vault))?.openedKeyring != null;
  } catch (error) {
    if (!isResponseLost(error)) throw error;
    return true;
  }
}

/** Delay in milliseconds; exponential with jitter, so that two devices do not collide again. */
export function jitteredDelay(tries: number): number {
  return Math.round(50 * 2 ** Math.min(tries, 5) * (0.5 + Math.random()));
}
