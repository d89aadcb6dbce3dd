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

import type { Remembered } from "../device/device.ts";
import type { AccountKey, TitlesKeys } from "../seal/account-key.ts";
import { openBook, openBookInner, openersDigest, type Book } from "../seal/book.ts";
import { digestOfJwe } from "../seal/document.ts";
import { isOwnKeyStatement, isPreviousSignatureRight } from "../seal/account-signatures.ts";
import { openRequests, type Requests } from "../seal/requests.ts";
import { openShares, type Shares } from "../seal/shares.ts";
import { openState, previousOf, stateDigest, type State } from "../seal/state.ts";
import type { FirstAccount, OlderState, VaultContext } from "../vault-context.ts";
import { forgetPending, forgetSketches, pendingAccount } from "./pending.ts";

/** The keyring as given and, when this device holds the key, what it says. */
export interface KeyringView {
  readonly keyring: Keyring;
  readonly opened: OpenedKeyring | null;
}

export interface OpenedKeyring {
  readonly keys: TitlesKeys;
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
export type ForeignKeyring = "drop_aloud" | "drop";

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
  foreign: ForeignKeyring = "drop_aloud",
  witness: Witness | null = null,
): Promise<KeyringView | null> {
  const view = await withSecondReading(() => readOnce(vault, signal, foreign, witness));
  vault.alarmed = null;
  return view;
}

/**
 * Whether a view was opened with the keys in use, and is of the newest state that this device has
 * seen, in any tab. Never of a locked vault.
 */
export async function isLatest(vault: VaultContext, { keyring, opened }: KeyringView): Promise<boolean> {
  if (vault.keys === null || opened?.keys !== vault.keys) return false;
  const remembered = await recall(vault);
  return remembered?.stateRev === keyring.state_rev && remembered.stateSha256 === stateDigest(keyring.state);
}

/**
 * One silent second reading before an alarm: another device may have written between two of our
 * calls.
 */
export async function withSecondReading<T>(read: () => Promise<T>): Promise<T> {
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
  foreign: ForeignKeyring,
  witness: Witness | null,
): Promise<KeyringView | null> {
  const remembered = await recall(vault);
  const known = [remembered, witness].flatMap((one) => (one === null ? [] : [one.stateRev]));
  const keyring = await vault.service.keyring(known.length === 0 ? null : Math.min(...known), signal);
  if (keyring === null) {
    if (witness !== null) throw new PortalError("histories_differ");
    await refuseMissing(vault, remembered, signal);
    vault.setState({ status: "empty" });
    return null;
  }
  if (remembered !== null && !leadsTo(keyring, remembered)) throw olderState(vault, keyring, remembered);
  if (witness !== null && !leadsTo(keyring, witness)) throw new PortalError("histories_differ");
  await adoptPending(vault, keyring, foreign);
  const { keys } = vault;
  // Of another generation, says the service: perhaps rotated elsewhere. The keys stay until an
  // opener tells.
  if (keys === null || keyring.key_epoch > keys.keyEpoch) {
    vault.setState({ status: "locked" });
    return { keyring, opened: null };
  }
  const opened = await openKeyring(vault, keys, vault.accountKey, keyring);
  await remember(vault, keyring, opened);
  vault.setState({ status: "unlocked", device: (await vault.device.read()).kind });
  return { keyring, opened };
}

/**
 * The keyring as a new beginning follows it, unopened: it must lead on from what this device
 * remembers, and its statement must verify itself and be of no lower generation, nor of other keys
 * in the same one.
 *
 * @throws PortalError `no_keyring`, `older_state`, `keyring_missing`, `own_key_changed`.
 */
export function readUnopened(vault: VaultContext, signal?: AbortSignal): Promise<Keyring> {
  return withSecondReading(async () => {
    const remembered = await recall(vault);
    const keyring = await vault.service.keyring(remembered?.stateRev ?? null, signal);
    if (keyring === null) {
      await refuseMissing(vault, remembered, signal);
      throw new PortalError("no_keyring");
    }
    if (remembered !== null && !leadsTo(keyring, remembered)) throw olderState(vault, keyring, remembered);
    const { key_statement: statement, key_epoch: keyEpoch } = keyring;
    const verifies =
      statement.user_id === vault.userId &&
      statement.key_epoch === keyEpoch &&
      hasValidSignature("key", statement, fromB64u(statement.signing_key));
    if (!verifies || (remembered !== null && !follows(statement, remembered))) throw new PortalError("own_key_changed");
    return keyring;
  });
}

function follows(statement: KeyStatement, remembered: Remembered): boolean {
  if (statement.key_epoch !== remembered.keyEpoch) return statement.key_epoch > remembered.keyEpoch;
  return statement.signing_key === remembered.signingKey && statement.recipient === remembered.recipient;
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
  keys: TitlesKeys,
  accountKey: AccountKey | null,
  keyring: Keyring,
): Promise<OpenedKeyring> {
  const { userId } = vault;
  if (keyring.key_epoch < keys.keyEpoch) throw olderState(vault, keyring, null);
  if (!isOwnKeyStatement(keys, userId, keyring.key_statement)) throw new PortalError("own_key_changed");
  const state = await openState(keys, userId, keyring.state_rev, keyring.state);
  const requests = keyring.requests ?? null;
  const digests = [keyring.book, keyring.shares, requests].map((jwe) =>
    jwe === null ? null : toB64u(digestOfJwe(jwe)),
  );
  if (canonicalText(digests) !== canonicalText([state.book_sha256, state.shares_sha256, state.requests_sha256]))
    throw olderState(vault, keyring, null);
  const opened = {
    keys,
    state,
    book: await openBook(keys, userId, keyring.book),
    shares: await openShares(keys, userId, keyring.shares),
    requests: requests === null ? null : await openRequests(keys, userId, requests),
  };
  await refuseForeignStatement(vault, keyring.key_statement, opened.book);
  if (accountKey !== null) await checkOpeners(vault, accountKey, opened.book);
  return opened;
}

/**
 * A statement that claims to follow a key must be signed by that one, as far as the book or this
 * device knows it.
 */
async function refuseForeignStatement(vault: VaultContext, statement: KeyStatement, book: Book): Promise<void> {
  const remembered = await recall(vault);
  const known = [
    ...book.old_signing_keys.map((old) => ({ keyEpoch: old.key_epoch, signingKey: fromB64u(old.signing_key) })),
    ...(remembered === null ? [] : [{ keyEpoch: remembered.keyEpoch, signingKey: fromB64u(remembered.signingKey) }]),
  ];
  if (!isPreviousSignatureRight(statement, known)) throw new PortalError("own_key_changed");
}

/**
 * Openers outside must be those inside. What was compared last is remembered, so that titles keys
 * alone know it again.
 */
async function checkOpeners(vault: VaultContext, accountKey: AccountKey, book: Book): Promise<void> {
  const outside = openersDigest(book.openers);
  const inner = await openBookInner(accountKey, vault.userId, book);
  if (outside !== openersDigest(inner.openers)) throw new PortalError("openers_changed");
  await bestEffort(async () => {
    await forgetSketches(vault.device, inner); // published, as it shows
    const { checkedOpeners } = await vault.device.read();
    if (checkedOpeners !== outside) await vault.device.write({ checkedOpeners: outside });
  });
}

/**
 * Sealing to a list of openers that the account key never vouched for on this device takes an
 * opener first.
 *
 * @throws PortalError `show_opener_first`.
 */
export async function requireCheckedOpeners(vault: VaultContext, { book }: OpenedKeyring): Promise<void> {
  if (vault.accountKey !== null) {
    await checkOpeners(vault, vault.accountKey, book);
    return;
  }
  const { checkedOpeners } = await vault.device.read();
  if (checkedOpeners !== openersDigest(book.openers)) throw new PortalError("show_opener_first");
}

/**
 * Follows `previous` from the state given back to one that is known, across generations. A lower
 * one, another one for the same rev, a gap or a fork do not lead there.
 */
function leadsTo(keyring: Keyring, known: Witness): boolean {
  const links = (keyring.states ?? []).filter(({ state_rev: rev }) => rev > known.stateRev);
  if (links.length !== keyring.state_rev - known.stateRev) return false;
  let before = known.stateSha256;
  for (const [index, link] of links.entries()) {
    if (link.state_rev !== known.stateRev + 1 + index || previousOf(link.state) !== before) return false;
    before = stateDigest(link.state);
  }
  return stateDigest(keyring.state) === before;
}

/** The alarm, and which state it was about: consent is to this one alone. */
function olderState(vault: VaultContext, keyring: Keyring, remembered: Remembered | null): PortalError {
  vault.alarmed = { stateRev: keyring.state_rev, stateSha256: stateDigest(keyring.state) };
  return new PortalError("older_state", {
    details: {
      given: keyring.state_rev,
      given_sha256: vault.alarmed.stateSha256,
      ...(remembered === null ? {} : { remembered: remembered.stateRev }),
    },
  });
}

/**
 * "No keyring" while labels, or anything of this account on this device, exist is an error, never a
 * fresh start.
 */
async function refuseMissing(
  vault: VaultContext,
  remembered: Remembered | null,
  signal: AbortSignal | undefined,
): Promise<void> {
  const { titlesKeys } = await vault.device.read();
  if (remembered !== null || titlesKeys !== null || vault.keys !== null) throw new PortalError("keyring_missing");
  const page = await vault.service.page({ cursor: null, since: null }, signal);
  if (page.total > 0 || page.secrets.length > 0 || page.state_rev > 0) throw new PortalError("keyring_missing");
}

/**
 * After a crash: a keyring that opens under the pending keys was published by us; one with another
 * key statement means that the pending account never was, and it is dropped. A worker that made it
 * goes on with its keys; after a reload an opener is shown. What waits is the only copy of its
 * slot: it goes when the service is seen to have that, too.
 */
async function adoptPending(vault: VaultContext, keyring: Keyring, foreign: ForeignKeyring): Promise<void> {
  const pending = vault.pending ?? (await pendingAccount(vault.device));
  if (pending === null) return;
  const statement = canonicalText(pending.statement);
  if (statement === canonicalText(keyring.key_statement)) {
    const keys = pending.keys ?? vault.keys;
    if (keys === null) return; // perhaps ours: the picture tells
    const opened = await openKeyring(vault, keys, vault.pending === null ? null : vault.accountKey, keyring);
    await remember(vault, keyring, opened);
    if (vault.pending !== null) vault.keys = keys;
    if (await isServed(vault, pending, keyring)) {
      vault.pending = null;
      await forgetPending(vault.device);
    }
    return;
  }
  // a new beginning that is not published yet: it is sent once more, or never
  if (pending.statement.key_epoch > keyring.key_epoch) return;
  if (vault.pending !== null) vault.accountKey = null; // of the account that never was
  vault.pending = null;
  await forgetPending(vault.device);
  if (foreign === "drop") return;
  vault.setState({ status: "locked" });
  throw new PortalError("pending_dropped");
}

async function isServed(
  vault: VaultContext,
  { slot, record }: Pick<FirstAccount, "slot" | "record">,
  keyring: Keyring,
): Promise<boolean> {
  if (!keyring.slots.some((one) => canonicalText(one) === canonicalText(slot))) return false;
  const records = await vault.service.imageRecords();
  return records.some((one) => one.id === record.id && one.helper === record.helper);
}

/**
 * The newest state that this device knows. Where it could not be written down, the one that this
 * worker knows, but for what was given up by consent.
 */
export async function recall(vault: VaultContext): Promise<Remembered | null> {
  const { remembered, consent } = await vault.device.read();
  const own = vault.remembered;
  if (remembered === null || own === null) return remembered ?? own;
  const givenUp = consent !== null && own.stateRev <= consent.abandoned.stateRev;
  return own.stateRev > remembered.stateRev && !givenUp ? own : remembered;
}

/** Writes down the newest checked state. Never a lower one, whatever other tabs write meanwhile. */
export async function remember(
  vault: VaultContext,
  keyring: Pick<Keyring, "state" | "state_rev" | "key_epoch">,
  { state, keys }: Pick<OpenedKeyring, "state" | "keys">,
): Promise<void> {
  const next: Remembered = {
    keyEpoch: keys.keyEpoch,
    stateRev: Counter.parse(keyring.state_rev),
    stateSha256: stateDigest(keyring.state),
    root: state.root,
    count: state.count,
    recipient: keys.recipient,
    signingKey: toB64u(keys.signingKey),
  };
  const { remembered } = await vault.device.read();
  if (!grows(remembered, next)) return;
  try {
    await vault.device.update((before) =>
      grows(before.remembered, next) ? { remembered: { ...before.remembered, ...next } } : null,
    );
    vault.remembered = null;
  } catch (error) {
    if (!isPortalError(error, "storage_full")) throw error;
    // the disk is full: this worker still remembers, and the next one checks less
    if (grows(vault.remembered, next)) vault.remembered = next;
  }
}

function grows(before: Remembered | null, next: Remembered): boolean {
  if (before === null || next.stateRev > before.stateRev) return true;
  return next.stateRev === before.stateRev && next.stateSha256 === before.stateSha256 && before.root === null;
}

/**
 * The deliberate choice after `older_state`, for the one state that was shown. The abandoned memory
 * is kept beside it; a new one grows from here, and what comes later must lead to this state.
 *
 * @throws PortalError `older_state` when the service gives yet another one by now.
 */
export async function acceptOlderState(vault: VaultContext, chosen: OlderState): Promise<void> {
  const { alarmed } = vault;
  if (alarmed?.stateRev !== chosen.stateRev || alarmed.stateSha256 !== chosen.stateSha256) return;
  const keyring = await vault.service.keyring(null);
  if (keyring === null) throw new PortalError("keyring_missing");
  if (keyring.state_rev !== chosen.stateRev || stateDigest(keyring.state) !== chosen.stateSha256)
    throw olderState(vault, keyring, null);
  const seen = await recall(vault);
  if (seen === null) return;
  const { stateRev, stateSha256 } = chosen;
  const another = { seen: false }; // by another tab, which nobody was asked about
  await vault.device.update(({ remembered, consent }) => {
    const known = highest(remembered, seen);
    another.seen = known.stateSha256 !== seen.stateSha256;
    if (another.seen) return null;
    return {
      remembered: { ...known, stateRev, stateSha256, root: null, count: null },
      consent: { stateRev, stateSha256, abandoned: highest(consent?.abandoned ?? null, known) },
    };
  });
  if (another.seen) throw olderState(vault, keyring, null);
  vault.remembered = null;
  vault.alarmed = null;
  await readKeyring(vault);
}

function highest(one: Remembered | null, other: Remembered): Remembered {
  return one !== null && one.stateRev > other.stateRev ? one : other;
}

/** For what the device would rather have written down, but can do without: the disk is full. */
async function bestEffort(write: () => Promise<void>): Promise<void> {
  try {
    await write();
  } catch (error) {
    if (!isPortalError(error, "storage_full")) throw error;
  }
}
