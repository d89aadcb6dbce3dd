import { isPortalError, PortalError } from "@relicario/shared/errors";

import type { SignedChange, OpenedKeyring } from "../session/keyring-views.ts";
import { throwIfCancelled } from "../rpc/throw-if-cancelled.ts";
import type { OperationOptions } from "../session/operation-options.ts";
import type { VaultSession } from "../session/vault-session.ts";
import { readAccount, type AccountView } from "./read-account.ts";
import { refreshKeyring } from "./refresh-keyring.ts";
import { isResponseLost, sendWithRetry } from "../service/send-with-retry.ts";

/** Tries at a conflicting state before `state_conflict` is thrown. */
export const maxConflictTries = 8;
/** One try: a signed change, the call that it goes with, and what the writer answers then. */
export interface Attempt<T> {
  readonly change: SignedChange;
  /** Sends the same bytes at every call, so that it can be repeated when its answer is lost. */
  readonly send: () => Promise<unknown>;
  readonly result: T;
}

/** What is written, made anew from the account as it is at each try. */
export interface Writer<T> {
  /**
   * @param account null while nothing was ever kept.
   * @returns an attempt; `done` when there is nothing to send.
   */
  readonly prepare: (account: AccountView | null) => Promise<Attempt<T> | { readonly done: T }>;
  /**
   * Whether an attempt whose answer got lost was published all the same. Null when it was not, or
   * cannot be seen.
   */
  readonly findPublished: (account: AccountView) => T | null;
  /** Called before the next try; the account is as {@link prepare} saw it. */
  readonly onConflict?: (account: AccountView | null) => Promise<void>;
}

/**
 * Reads and checks keyring and list, lets the writer make its attempt, and sends it: one call, one
 * transaction. On `state_conflict` all of it is done anew, eight times with jitter. Only one writer
 * of a device is here at a time.
 *
 * @throws PortalError `state_conflict`, `version_conflict`, `cancelled` (up to the moment of
 *   sending), and what reading and the writer throw. Nothing is half published.
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
      throwIfCancelled(options.signal); // the last moment: what is sent may be published
      options.onProgress?.({ phase: "sending", done: 0, total: 1 });
      try {
        await sendWithRetry(vault.pause, attempt.send);
        await commit(vault, attempt.change);
        options.onProgress?.({ phase: "sending", done: 1, total: 1 });
        return attempt.result;
      } catch (error) {
        // `version_conflict`, `id_taken`: perhaps an answer got lost and somebody wrote on since;
        // the list tells.
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

/** Null for the bootstrapping. @throws PortalError `vault_locked`. */
export function requireOpenedKeyring(account: AccountView | null): OpenedKeyring | null {
  if (account === null) return null;
  if (account.view.openedKeyring === null) throw new PortalError("vault_locked");
  return account.view.openedKeyring;
}

/**
 * After lost answers: reads the account and returns what was published all the same, or null when
 * that cannot be seen.
 */
async function recheckPublished<T>(
  vault: VaultSession,
  writer: Writer<T>,
  options: OperationOptions,
): Promise<T | null> {
  try {
    const account = await readAccount(vault, options.signal);
    return account === null ? null : writer.findPublished(account);
  } catch {
    return null; // the service is still away: the first error says what happened
  }
}

/**
 * After publishing: holds the keys and remembers the state. An account that begins is believed only
 * once it was read: for the service's word alone nothing is remembered, and what waits of it on
 * this device, the only slot, stays. Where it cannot be read now because the connection went, the
 * next reading does so.
 *
 * @throws PortalError `publication_not_seen`, and those of reading.
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

/**
 * A pause in milliseconds that grows with each try and is random, so that two devices do not meet
 * again.
 */
export function jitteredDelay(tries: number): number {
  return Math.round(50 * 2 ** Math.min(tries, 5) * (0.5 + Math.random()));
}
