import { Counter, toB64u, type Keyring } from "@relicario/shared/api";
import { isPortalError, PortalError } from "@relicario/shared/errors";

import type { Remembered } from "../device/device.ts";
import { deriveAccountKeys, type AccountKeys } from "../seal/account-key.ts";
import { openBook, type Book } from "../seal/book.ts";
import { digestOfJwe } from "../seal/document.ts";
import { isOwnKeyStatement } from "../seal/account-signatures.ts";
import { openShares, type Shares } from "../seal/shares.ts";
import { openState, previousOf, stateDigest, type State } from "../seal/state.ts";
import type { VaultContext } from "../vault-context.ts";
import { forgetPending, pendingAccountKey } from "./pending.ts";

/** The keyring as given and, when this device holds the key, what it says. */
export interface KeyringView {
  readonly keyring: Keyring;
  readonly opened: OpenedKeyring | null;
}

export interface OpenedKeyring {
  readonly keys: AccountKeys;
  readonly state: State;
  readonly book: Book;
  readonly shares: Shares;
}

/** What to do when there is a keyring that does not open under the pending key. */
export type ForeignKeyring = "drop_aloud" | "drop";

/**
 * Reads the keyring and checks it against what this device remembers. Null when nothing was ever kept.
 *
 * @throws PortalError `older_state`, `keyring_missing`, `own_key_changed`, `pending_dropped`, `decryption_failed`.
 */
export async function readKeyring(vault: VaultContext, signal?: AbortSignal, foreign: ForeignKeyring = "drop_aloud"): Promise<KeyringView | null> {
  try {
    return await withSecondReading(() => readOnce(vault, signal, foreign));
  } catch (error) {
    vault.alarmed = isPortalError(error, "older_state");
    throw error;
  }
}

/** One silent second reading before an alarm: another device may have written between two of our calls. */
export async function withSecondReading<T>(read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (error) {
    if (!isPortalError(error, "older_state", "list_mismatch", "keyring_missing")) throw error;
    return read();
  }
}

async function readOnce(vault: VaultContext, signal: AbortSignal | undefined, foreign: ForeignKeyring): Promise<KeyringView | null> {
  const remembered = await recall(vault);
  const keyring = await vault.service.keyring(remembered?.stateRev ?? null, signal);
  if (keyring === null) {
    await refuseMissing(vault, remembered, signal);
    vault.setState({ status: "empty" });
    return null;
  }
  followChain(keyring, remembered);
  if (vault.keys === null) await adoptPending(vault, keyring, foreign);
  if (vault.keys !== null && keyring.key_epoch > vault.keys.keyEpoch) {
    vault.keys = null; // rotated elsewhere: an opener is needed
    vault.held = null; // with its opened labels
  }
  const keys = vault.keys;
  if (keys === null) {
    vault.setState({ status: "locked" });
    return { keyring, opened: null };
  }
  const opened = await openKeyring(vault.userId, keys, keyring);
  await remember(vault, keyring, opened.state);
  vault.setState({ status: "unlocked", device: (await vault.device.read()).kind });
  return { keyring, opened };
}

/**
 * Opens what the keyring holds with the keys of this device, and checks that the parts belong together.
 *
 * @throws PortalError `own_key_changed`, `older_state`, `decryption_failed`.
 */
export async function openKeyring(userId: string, keys: AccountKeys, keyring: Keyring): Promise<OpenedKeyring> {
  if (keyring.key_epoch < keys.keyEpoch) throw new PortalError("older_state");
  if (!isOwnKeyStatement(keys, userId, keyring.key_statement)) throw new PortalError("own_key_changed");
  const state = await openState(keys, userId, keyring.state_rev, keyring.state);
  for (const link of keyring.states ?? []) await openState(keys, userId, link.state_rev, link.state);
  if (toB64u(digestOfJwe(keyring.book)) !== state.book_sha256) throw new PortalError("older_state");
  if (toB64u(digestOfJwe(keyring.shares)) !== state.shares_sha256) throw new PortalError("older_state");
  const [book, shares] = await Promise.all([openBook(keys, userId, keyring.book), openShares(keys, userId, keyring.shares)]);
  return { keys, state, book, shares };
}

/** Follows `previous` from the state given back to the one remembered: lower, another one for the same rev, a gap or a fork stop it. */
function followChain(keyring: Keyring, remembered: Remembered | null): void {
  if (remembered === null) return;
  const older = new PortalError("older_state", { details: { given: keyring.state_rev, remembered: remembered.stateRev } });
  if (keyring.key_epoch < remembered.keyEpoch || keyring.state_rev < remembered.stateRev) throw older;
  const links = keyring.states ?? [];
  if (links.length !== keyring.state_rev - remembered.stateRev) throw older;
  let before = remembered.stateSha256;
  for (const [index, link] of links.entries()) {
    if (link.state_rev !== remembered.stateRev + 1 + index || previousOf(link.state) !== before) throw older;
    before = stateDigest(link.state);
  }
  if (stateDigest(keyring.state) !== before) throw older;
}

/** "No keyring" while labels, or anything of this account on this device, exist is an error, never a fresh start. */
async function refuseMissing(vault: VaultContext, remembered: Remembered | null, signal: AbortSignal | undefined): Promise<void> {
  const { accountKey } = await vault.device.read();
  if (remembered !== null || accountKey !== null || vault.keys !== null) throw new PortalError("keyring_missing");
  const page = await vault.service.page({ cursor: null, since: null }, signal);
  if (page.total > 0 || page.secrets.length > 0 || page.state_rev > 0) throw new PortalError("keyring_missing");
}

/**
 * After a crash: a keyring that opens under the pending key was published by us; any other means that the pending key
 * never was, and it is dropped.
 */
async function adoptPending(vault: VaultContext, keyring: Keyring, foreign: ForeignKeyring): Promise<void> {
  const pending = await pendingAccountKey(vault.device);
  if (pending === null) return;
  const keys = await deriveAccountKeys(pending);
  try {
    await openKeyring(vault.userId, keys, keyring);
  } catch (error) {
    if (!isPortalError(error)) throw error;
    await forgetPending(vault.device);
    if (foreign === "drop") return;
    vault.setState({ status: "locked" });
    throw new PortalError("pending_dropped", { cause: error });
  }
  vault.keys = keys;
  await forgetPending(vault.device);
}

/** The newest state that this device knows, from this worker or an earlier one. */
export async function recall(vault: VaultContext): Promise<Remembered | null> {
  const { remembered } = await vault.device.read();
  const own = vault.remembered;
  if (remembered === null || own === null) return remembered ?? own;
  return own.stateRev > remembered.stateRev ? own : remembered;
}

/** Writes down the newest checked state. Never a lower one. */
export async function remember(vault: VaultContext, keyring: Pick<Keyring, "state" | "state_rev" | "key_epoch">, state: State): Promise<void> {
  const before = await recall(vault);
  if (before !== null && before.stateRev >= keyring.state_rev) return;
  const remembered = {
    keyEpoch: keyring.key_epoch,
    stateRev: Counter.parse(keyring.state_rev),
    stateSha256: stateDigest(keyring.state),
    root: state.root,
    count: state.count,
  };
  vault.remembered = remembered;
  try {
    await vault.device.write({ remembered });
  } catch (error) {
    if (!isPortalError(error, "storage_full")) throw error;
    // A full disk: this worker still remembers, and the next one checks less. Reading goes on.
  }
}

/** The deliberate choice after `older_state`: forget, so that the next reading believes what it is given. */
export async function acceptOlderState(vault: VaultContext): Promise<void> {
  if (!vault.alarmed) return;
  vault.remembered = null;
  await vault.device.write({ remembered: null });
  vault.alarmed = false;
  await readKeyring(vault);
}
