import {
  canonicalText,
  Counter,
  fromB64u,
  hasValidSignature,
  toB64u,
  type Keyring,
  type KeyStatement,
} from "@relicario/shared/api";
import { isPortalError, PortalError } from "@relicario/shared/errors";

import type { StateCheckpoint } from "../device/device.ts";
import type { AccountKey, MetadataKeys } from "../seal/account-key.ts";
import { openBook, openBookInner, openersDigest, type Book } from "../seal/book.ts";
import { jweDigest } from "../seal/document.ts";
import { isOwnKeyStatement, hasValidPreviousSignature } from "../seal/account-signatures.ts";
import { openRequests, type Requests } from "../seal/requests.ts";
import { openShares, type Shares } from "../seal/shares.ts";
import { openState, unverifiedPreviousOf, stateDigest, type State } from "../seal/state.ts";
import type { FirstAccount, OlderState, VaultContext } from "../vault-context.ts";
import { clearPendingAccount, removePublishedSketches, loadPendingAccount } from "./pending-account.ts";

/** The keyring as given and, when this device holds the key, what it says. */
export interface KeyringView {
  readonly keyring: Keyring;
  readonly openedKeyring: OpenedKeyring | null;
}

export interface OpenedKeyring {
  readonly keys: MetadataKeys;
  readonly state: State;
  readonly book: Book;
  readonly shares: Shares;
  /** Null before the first request. */
  readonly requests: Requests | null;
}

/**
 * A state that another device of the account vouches for. What the service gives has to be it, or
 * to lead to it.
 */
export interface Witness {
  readonly stateRev: number;
  /** base64url. */
  readonly stateSha256: string;
}

/** What to do when there is a keyring that does not open under the pending key. */
export type PendingConflictPolicy = "drop_and_throw" | "drop";

/**
 * Reads the keyring and checks it against what this device remembers. Null when nothing was ever
 * kept.
 *
 * @throws PortalError `older_state`, `keyring_missing`, `own_key_changed`, `openers_changed`,
 *   `pending_dropped`, `decryption_failed`; `histories_differ` where it does not come from what the
 *   witness saw.
 */
export async function readKeyring(
  vault: VaultContext,
  signal?: AbortSignal,
  conflictPolicy: PendingConflictPolicy = "drop_and_throw",
  witness: Witness | null = null,
): Promise<KeyringView | null> {
  const view = await retryReadOnce(() => readOnce(vault, signal, conflictPolicy, witness));
  vault.rejectedState = null;
  return view;
}

/**
 * Whether a view was opened with the keys in use, and is of the newest state that this device has
 * seen, in any tab. Never of a locked vault.
 */
export async function isLatest(vault: VaultContext, { keyring, openedKeyring }: KeyringView): Promise<boolean> {
  if (vault.keys === null || openedKeyring?.keys !== vault.keys) return false;
  const remembered = await loadCheckpoint(vault);
  return remembered?.stateRev === keyring.state_rev && remembered.stateSha256 === stateDigest(keyring.state);
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

async function readOnce(
  vault: VaultContext,
  signal: AbortSignal | undefined,
  conflictPolicy: PendingConflictPolicy,
  witness: Witness | null,
): Promise<KeyringView | null> {
  const checkpoint = await loadCheckpoint(vault);
  const knownRevs = [checkpoint, witness].flatMap((knownState) => (knownState === null ? [] : [knownState.stateRev]));
  const keyring = await vault.service.getKeyring(knownRevs.length === 0 ? null : Math.min(...knownRevs), signal);
  if (keyring === null) {
    if (witness !== null) throw new PortalError("histories_differ");
    await assertKeyringNeverExisted(vault, checkpoint, signal);
    vault.setState({ status: "empty" });
    return null;
  }
  if (checkpoint !== null && !descendsFrom(keyring, checkpoint))
    throw createOlderStateError(vault, keyring, checkpoint);
  if (witness !== null && !descendsFrom(keyring, witness)) throw new PortalError("histories_differ");
  await adoptPending(vault, keyring, conflictPolicy);
  const { keys } = vault;
  // Of another generation, says the service: perhaps rotated elsewhere. The keys stay until an
  // opener tells.
  if (keys === null || keyring.key_epoch > keys.keyEpoch) {
    vault.setState({ status: "locked" });
    return { keyring, openedKeyring: null };
  }
  const openedKeyring = await openKeyring(vault, keys, vault.accountKey, keyring);
  await saveCheckpoint(vault, keyring, openedKeyring);
  vault.setState({ status: "unlocked", device: (await vault.device.read()).kind });
  return { keyring, openedKeyring };
}

/**
 * The keyring as a new beginning follows it, unopened: it must lead on from what this device
 * remembers, and its statement must verify itself and be of no lower generation, nor of other keys
 * in the same one.
 *
 * @throws PortalError `no_keyring`, `older_state`, `keyring_missing`, `own_key_changed`.
 */
export function readUnopened(vault: VaultContext, signal?: AbortSignal): Promise<Keyring> {
  return retryReadOnce(async () => {
    const checkpoint = await loadCheckpoint(vault);
    const keyring = await vault.service.getKeyring(checkpoint?.stateRev ?? null, signal);
    if (keyring === null) {
      await assertKeyringNeverExisted(vault, checkpoint, signal);
      throw new PortalError("no_keyring");
    }
    if (checkpoint !== null && !descendsFrom(keyring, checkpoint))
      throw createOlderStateError(vault, keyring, checkpoint);
    const { key_statement: statement, key_epoch: keyEpoch } = keyring;
    const isVerified =
      statement.user_id === vault.userId &&
      statement.key_epoch === keyEpoch &&
      hasValidSignature("key", statement, fromB64u(statement.signing_key));
    if (!isVerified || (checkpoint !== null && !isSuccessorOf(statement, checkpoint)))
      throw new PortalError("own_key_changed");
    return keyring;
  });
}

function isSuccessorOf(statement: KeyStatement, checkpoint: StateCheckpoint): boolean {
  if (statement.key_epoch !== checkpoint.keyEpoch) return statement.key_epoch > checkpoint.keyEpoch;
  return statement.signing_key === checkpoint.signingKey && statement.recipient === checkpoint.recipient;
}

/**
 * Opens what the keyring holds with the keys of this device, and checks that the parts belong
 * together. With the account key in memory the book's openers are compared with those that it
 * vouches for.
 *
 * @throws PortalError `own_key_changed`, `openers_changed`, `older_state`, `decryption_failed`.
 */
export async function openKeyring(
  vault: VaultContext,
  keys: MetadataKeys,
  accountKey: AccountKey | null,
  keyring: Keyring,
): Promise<OpenedKeyring> {
  const { userId } = vault;
  if (keyring.key_epoch < keys.keyEpoch) throw createOlderStateError(vault, keyring, null);
  if (!isOwnKeyStatement(keys, userId, keyring.key_statement)) throw new PortalError("own_key_changed");
  const state = await openState(keys, userId, keyring.state_rev, keyring.state);
  const requests = keyring.requests ?? null;
  const digests = [keyring.book, keyring.shares, requests].map((jwe) => (jwe === null ? null : toB64u(jweDigest(jwe))));
  if (canonicalText(digests) !== canonicalText([state.book_sha256, state.shares_sha256, state.requests_sha256]))
    throw createOlderStateError(vault, keyring, null);
  const openedKeyring = {
    keys,
    state,
    book: await openBook(keys, userId, keyring.book),
    shares: await openShares(keys, userId, keyring.shares),
    requests: requests === null ? null : await openRequests(keys, userId, requests),
  };
  await assertOwnStatement(vault, keyring.key_statement, openedKeyring.book);
  if (accountKey !== null) await verifyOpeners(vault, accountKey, openedKeyring.book);
  return openedKeyring;
}

/**
 * A statement that claims to follow a key must be signed by that one, as far as the book or this
 * device knows it.
 */
async function assertOwnStatement(vault: VaultContext, statement: KeyStatement, book: Book): Promise<void> {
  const checkpoint = await loadCheckpoint(vault);
  const knownKeys = [
    ...book.old_signing_keys.map((oldKey) => ({
      keyEpoch: oldKey.key_epoch,
      signingKey: fromB64u(oldKey.signing_key),
    })),
    ...(checkpoint === null ? [] : [{ keyEpoch: checkpoint.keyEpoch, signingKey: fromB64u(checkpoint.signingKey) }]),
  ];
  if (!hasValidPreviousSignature(statement, knownKeys)) throw new PortalError("own_key_changed");
}

/**
 * Openers outside must be those inside. What was compared last is remembered, so that titles keys
 * alone know it again.
 */
async function verifyOpeners(vault: VaultContext, accountKey: AccountKey, book: Book): Promise<void> {
  const outerDigest = openersDigest(book.openers);
  const inner = await openBookInner(accountKey, vault.userId, book);
  if (outerDigest !== openersDigest(inner.openers)) throw new PortalError("openers_changed");
  await ignoreStorageFull(async () => {
    await removePublishedSketches(vault.device, inner); // published, as it shows
    const { checkedOpeners } = await vault.device.read();
    if (checkedOpeners !== outerDigest) await vault.device.write({ checkedOpeners: outerDigest });
  });
}

/**
 * Sealing to a list of openers that the account key never vouched for on this device takes an
 * opener first.
 *
 * @throws PortalError `show_opener_first`.
 */
export async function requireVerifiedOpeners(vault: VaultContext, { book }: OpenedKeyring): Promise<void> {
  if (vault.accountKey !== null) {
    await verifyOpeners(vault, vault.accountKey, book);
    return;
  }
  const { checkedOpeners } = await vault.device.read();
  if (checkedOpeners !== openersDigest(book.openers)) throw new PortalError("show_opener_first");
}

/**
 * Follows `previous` from the state given back to one that is known, across generations. A lower
 * one, another one for the same rev, a gap or a fork do not lead there.
 */
function descendsFrom(keyring: Keyring, ancestor: Witness): boolean {
  const chain = (keyring.states ?? []).filter(({ state_rev: rev }) => rev > ancestor.stateRev);
  if (chain.length !== keyring.state_rev - ancestor.stateRev) return false;
  let expectedDigest = ancestor.stateSha256;
  for (const [index, link] of chain.entries()) {
    if (link.state_rev !== ancestor.stateRev + 1 + index || unverifiedPreviousOf(link.state) !== expectedDigest)
      return false;
    expectedDigest = stateDigest(link.state);
  }
  return stateDigest(keyring.state) === expectedDigest;
}

/** The alarm, and which state it was about: consent is to this one alone. */
function createOlderStateError(vault: VaultContext, keyring: Keyring, checkpoint: StateCheckpoint | null): PortalError {
  vault.rejectedState = { stateRev: keyring.state_rev, stateSha256: stateDigest(keyring.state) };
  return new PortalError("older_state", {
    details: {
      given: keyring.state_rev,
      given_sha256: vault.rejectedState.stateSha256,
      ...(checkpoint === null ? {} : { remembered: checkpoint.stateRev }),
    },
  });
}

/**
 * "No keyring" while labels, or anything of this account on this device, exist is an error, never a
 * fresh start.
 */
async function assertKeyringNeverExisted(
  vault: VaultContext,
  checkpoint: StateCheckpoint | null,
  signal: AbortSignal | undefined,
): Promise<void> {
  const { metadataKeys } = await vault.device.read();
  if (checkpoint !== null || metadataKeys !== null || vault.keys !== null) throw new PortalError("keyring_missing");
  const page = await vault.service.getListPage({ cursor: null, since: null }, signal);
  if (page.total > 0 || page.secrets.length > 0 || page.state_rev > 0) throw new PortalError("keyring_missing");
}

/**
 * After a crash: a keyring that opens under the pending keys was published by us; one with another
 * key statement means that the pending account never was, and it is dropped. A worker that made it
 * goes on with its keys; after a reload an opener is shown. What waits is the only copy of its
 * slot: it goes when the service is seen to have that, too.
 */
async function adoptPending(
  vault: VaultContext,
  keyring: Keyring,
  conflictPolicy: PendingConflictPolicy,
): Promise<void> {
  const pending = vault.pending ?? (await loadPendingAccount(vault.device));
  if (pending === null) return;
  const statement = canonicalText(pending.statement);
  if (statement === canonicalText(keyring.key_statement)) {
    const keys = pending.keys ?? vault.keys;
    if (keys === null) return; // perhaps ours: the picture tells
    const openedKeyring = await openKeyring(vault, keys, vault.pending === null ? null : vault.accountKey, keyring);
    await saveCheckpoint(vault, keyring, openedKeyring);
    if (vault.pending !== null) vault.keys = keys;
    if (await isPublished(vault, pending, keyring)) {
      vault.pending = null;
      await clearPendingAccount(vault.device);
    }
    return;
  }
  // a new beginning that is not published yet: it is sent once more, or never
  if (pending.statement.key_epoch > keyring.key_epoch) return;
  if (vault.pending !== null) vault.accountKey = null; // of the account that never was
  vault.pending = null;
  await clearPendingAccount(vault.device);
  if (conflictPolicy === "drop") return;
  vault.setState({ status: "locked" });
  throw new PortalError("pending_dropped");
}

async function isPublished(
  vault: VaultContext,
  { slot, record }: Pick<FirstAccount, "slot" | "record">,
  keyring: Keyring,
): Promise<boolean> {
  if (!keyring.slots.some((servedSlot) => canonicalText(servedSlot) === canonicalText(slot))) return false;
  const records = await vault.service.getImageRecords();
  return records.some((servedRecord) => servedRecord.id === record.id && servedRecord.helper === record.helper);
}

/**
 * The newest state that this device knows. Where it could not be written down, the one that this
 * worker knows, but for what was given up by consent.
 */
export async function loadCheckpoint(vault: VaultContext): Promise<StateCheckpoint | null> {
  const { remembered: storedCheckpoint, consent } = await vault.device.read();
  const unsavedCheckpoint = vault.checkpoint;
  if (storedCheckpoint === null || unsavedCheckpoint === null) return storedCheckpoint ?? unsavedCheckpoint;
  const wasAbandoned = consent !== null && unsavedCheckpoint.stateRev <= consent.abandoned.stateRev;
  return unsavedCheckpoint.stateRev > storedCheckpoint.stateRev && !wasAbandoned ? unsavedCheckpoint : storedCheckpoint;
}

/** Writes down the newest checked state. Never a lower one, whatever other tabs write meanwhile. */
export async function saveCheckpoint(
  vault: VaultContext,
  keyring: Pick<Keyring, "state" | "state_rev" | "key_epoch">,
  { state, keys }: Pick<OpenedKeyring, "state" | "keys">,
): Promise<void> {
  const next: StateCheckpoint = {
    keyEpoch: keys.keyEpoch,
    stateRev: Counter.parse(keyring.state_rev),
    stateSha256: stateDigest(keyring.state),
    root: state.root,
    count: state.count,
    recipient: keys.recipient,
    signingKey: toB64u(keys.signingKey),
  };
  const { remembered: storedCheckpoint } = await vault.device.read();
  if (!advances(storedCheckpoint, next)) return;
  try {
    await vault.device.update((current) =>
      advances(current.remembered, next) ? { remembered: { ...current.remembered, ...next } } : null,
    );
    vault.checkpoint = null;
  } catch (error) {
    if (!isPortalError(error, "storage_full")) throw error;
    // the disk is full: this worker still remembers, and the next one checks less
    if (advances(vault.checkpoint, next)) vault.checkpoint = next;
  }
}

function advances(previous: StateCheckpoint | null, next: StateCheckpoint): boolean {
  if (previous === null || next.stateRev > previous.stateRev) return true;
  return next.stateRev === previous.stateRev && next.stateSha256 === previous.stateSha256 && previous.root === null;
}

/**
 * The deliberate choice after `older_state`, for the one state that was shown. The abandoned memory
 * is kept beside it; a new one grows from here, and what comes later must lead to this state.
 *
 * @throws PortalError `older_state` when the service gives yet another one by now.
 */
export async function acceptOlderState(vault: VaultContext, chosen: OlderState): Promise<void> {
  const { rejectedState } = vault;
  if (rejectedState?.stateRev !== chosen.stateRev || rejectedState.stateSha256 !== chosen.stateSha256) return;
  const keyring = await vault.service.getKeyring(null);
  if (keyring === null) throw new PortalError("keyring_missing");
  if (keyring.state_rev !== chosen.stateRev || stateDigest(keyring.state) !== chosen.stateSha256)
    throw createOlderStateError(vault, keyring, null);
  const checkpoint = await loadCheckpoint(vault);
  if (checkpoint === null) return;
  const { stateRev, stateSha256 } = chosen;
  const concurrentChange = { detected: false }; // by another tab, which nobody was asked about
  await vault.device.update(({ remembered: storedCheckpoint, consent }) => {
    const newestKnown = newestOf(storedCheckpoint, checkpoint);
    concurrentChange.detected = newestKnown.stateSha256 !== checkpoint.stateSha256;
    if (concurrentChange.detected) return null;
    return {
      remembered: { ...newestKnown, stateRev, stateSha256, root: null, count: null },
      consent: { stateRev, stateSha256, abandoned: newestOf(consent?.abandoned ?? null, newestKnown) },
    };
  });
  if (concurrentChange.detected) throw createOlderStateError(vault, keyring, null);
  vault.checkpoint = null;
  vault.rejectedState = null;
  await readKeyring(vault);
}

function newestOf(left: StateCheckpoint | null, right: StateCheckpoint): StateCheckpoint {
  return left !== null && left.stateRev > right.stateRev ? left : right;
}

/** For what the device would rather have written down, but can do without: the disk is full. */
async function ignoreStorageFull(write: () => Promise<void>): Promise<void> {
  try {
    await write();
  } catch (error) {
    if (!isPortalError(error, "storage_full")) throw error;
  }
}
