import {
  stringifyCanonical,
  fromBase64url,
  hasValidSignature,
  toBase64url,
  type Keyring,
  type KeyStatement,
} from "@relicario/shared/api";
import { PortalError } from "@relicario/shared/errors";

import type { StateCheckpoint } from "../device/device.ts";
import { loadPendingAccount, type FirstAccount } from "../device/pending-account.ts";
import type { AccountKey, MetadataKeys } from "../seal/account-key.ts";
import { openBook, type Book } from "../seal/book.ts";
import { computeJweDigest } from "../seal/document.ts";
import { isOwnKeyStatement, hasValidPreviousSignature } from "../seal/account-signatures.ts";
import { openRequests } from "../seal/requests.ts";
import { openShares } from "../seal/shares.ts";
import { openState, parseUnverifiedPrevious, computeStateDigest } from "../seal/state.ts";
import type { PendingOutcome, VerifiedKeyring, VerifiedOpening } from "../session/keyring-views.ts";
import type { VaultSession } from "../session/vault-session.ts";
import { verifyOpeners } from "./verified-openers.ts";

/**
 * A state that another device of the account vouches for. What the service gives has to be it, or
 * to lead to it.
 */
export interface Witness {
  readonly stateRev: number;
  /** base64url. */
  readonly stateSha256: string;
}

export interface FetchOptions {
  readonly signal?: AbortSignal | undefined;
  readonly witness?: Witness | null;
  /** Opens no keyring that supersedes the pending account: whoever reads it stops there. */
  readonly stopWhenSuperseded?: boolean;
}

/**
 * Fetches the keyring and verifies it against what this device remembers, with the keys of this
 * session. Changes nothing, here or on the device. Null when nothing was ever kept.
 *
 * @throws PortalError `older_state`, `keyring_missing`, `own_key_changed`, `openers_changed`,
 *   `decryption_failed`; `histories_differ` where it does not come from what the witness saw.
 */
export async function fetchVerifiedKeyring(
  vault: VaultSession,
  { signal, witness = null, stopWhenSuperseded = false }: FetchOptions = {},
): Promise<VerifiedKeyring | null> {
  const checkpoint = await vault.loadCheckpoint();
  const knownRevs = [checkpoint, witness].flatMap((knownState) => (knownState === null ? [] : [knownState.stateRev]));
  const keyring = await vault.service.getKeyring(knownRevs.length === 0 ? null : Math.min(...knownRevs), signal);
  if (keyring === null) {
    if (witness !== null) throw new PortalError("histories_differ");
    await assertKeyringNeverExisted(vault, checkpoint, signal);
    return null;
  }
  if (checkpoint !== null && !descendsFrom(keyring, checkpoint)) throw createOlderStateError(keyring, checkpoint);
  if (witness !== null && !descendsFrom(keyring, witness)) throw new PortalError("histories_differ");
  const pending = await resolvePending(vault, keyring);
  if (pending.kind === "published" && vault.pending !== null) return { keyring, opening: pending.opening, pending };
  const isSuperseded = pending.kind === "superseded";
  const { keys } = vault;
  // Of another generation, says the service: perhaps rotated elsewhere. The keys stay until an
  // opener tells.
  if (keys === null || keyring.key_epoch > keys.keyEpoch || (isSuperseded && stopWhenSuperseded))
    return { keyring, opening: null, pending };
  // the account key of a pending account that never was opens nothing
  const accountKey = isSuperseded && vault.pending !== null ? null : vault.accountKey;
  return { keyring, opening: await openKeyring(vault, keys, accountKey, keyring), pending };
}

/**
 * The keyring as a new beginning follows it, unopened: it must lead on from what this device
 * remembers, and its statement must verify itself and be of no lower generation, nor of other keys
 * in the same one.
 *
 * @throws PortalError `no_keyring`, `older_state`, `keyring_missing`, `own_key_changed`.
 */
export async function fetchUnopenedKeyring(vault: VaultSession, signal?: AbortSignal): Promise<Keyring> {
  const checkpoint = await vault.loadCheckpoint();
  const keyring = await vault.service.getKeyring(checkpoint?.stateRev ?? null, signal);
  if (keyring === null) {
    await assertKeyringNeverExisted(vault, checkpoint, signal);
    throw new PortalError("no_keyring");
  }
  if (checkpoint !== null && !descendsFrom(keyring, checkpoint)) throw createOlderStateError(keyring, checkpoint);
  const { key_statement: statement, key_epoch: keyEpoch } = keyring;
  const isVerified =
    statement.user_id === vault.userId &&
    statement.key_epoch === keyEpoch &&
    hasValidSignature("key", statement, fromBase64url(statement.signing_key));
  if (!isVerified || (checkpoint !== null && !isSuccessorOf(statement, checkpoint)))
    throw new PortalError("own_key_changed");
  return keyring;
}

function isSuccessorOf(statement: KeyStatement, checkpoint: StateCheckpoint): boolean {
  if (statement.key_epoch !== checkpoint.keyEpoch) return statement.key_epoch > checkpoint.keyEpoch;
  return statement.signing_key === checkpoint.signingKey && statement.recipient === checkpoint.recipient;
}

/**
 * Opens what the keyring holds with these keys, and checks that the parts belong together. With an
 * account key the book's openers are compared with those that it vouches for.
 *
 * @throws PortalError `own_key_changed`, `openers_changed`, `older_state`, `decryption_failed`.
 */
export async function openKeyring(
  vault: VaultSession,
  keys: MetadataKeys,
  accountKey: AccountKey | null,
  keyring: Keyring,
): Promise<VerifiedOpening> {
  const { userId } = vault;
  if (keyring.key_epoch < keys.keyEpoch) throw createOlderStateError(keyring, null);
  if (!isOwnKeyStatement(keys, userId, keyring.key_statement)) throw new PortalError("own_key_changed");
  const state = await openState(keys, userId, keyring.state_rev, keyring.state);
  const requests = keyring.requests ?? null;
  const digests = [keyring.book, keyring.shares, requests].map((jwe) =>
    jwe === null ? null : toBase64url(computeJweDigest(jwe)),
  );
  if (
    stringifyCanonical(digests) !== stringifyCanonical([state.book_sha256, state.shares_sha256, state.requests_sha256])
  )
    throw createOlderStateError(keyring, null);
  const openedKeyring = {
    keys,
    state,
    book: await openBook(keys, userId, keyring.book),
    shares: await openShares(keys, userId, keyring.shares),
    requests: requests === null ? null : await openRequests(keys, userId, requests),
  };
  await assertOwnStatement(vault, keyring.key_statement, openedKeyring.book);
  return {
    openedKeyring,
    openers: accountKey === null ? null : await verifyOpeners(userId, accountKey, openedKeyring.book),
  };
}

/**
 * A statement that claims to follow a key must be signed by that one, as far as the book or this
 * device knows it.
 */
async function assertOwnStatement(vault: VaultSession, statement: KeyStatement, book: Book): Promise<void> {
  const checkpoint = await vault.loadCheckpoint();
  const knownKeys = [
    ...book.old_signing_keys.map((oldKey) => ({
      keyEpoch: oldKey.key_epoch,
      signingKey: fromBase64url(oldKey.signing_key),
    })),
    ...(checkpoint === null
      ? []
      : [{ keyEpoch: checkpoint.keyEpoch, signingKey: fromBase64url(checkpoint.signingKey) }]),
  ];
  if (!hasValidPreviousSignature(statement, knownKeys)) throw new PortalError("own_key_changed");
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
    if (link.state_rev !== ancestor.stateRev + 1 + index || parseUnverifiedPrevious(link.state) !== expectedDigest)
      return false;
    expectedDigest = computeStateDigest(link.state);
  }
  return computeStateDigest(keyring.state) === expectedDigest;
}

/** The alarm, and which state it is about. */
export function createOlderStateError(keyring: Keyring, checkpoint: StateCheckpoint | null): PortalError {
  return new PortalError("older_state", {
    details: {
      given: keyring.state_rev,
      given_sha256: computeStateDigest(keyring.state),
      ...(checkpoint === null ? {} : { remembered: checkpoint.stateRev }),
    },
  });
}

/**
 * "No keyring" while labels, or anything of this account on this device, exist is an error, never a
 * fresh start.
 */
async function assertKeyringNeverExisted(
  vault: VaultSession,
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
 * key statement means that the pending account never was. A worker that made it goes on with its
 * keys; after a reload an opener is shown. What waits is the only copy of its slot: it is published
 * only when the service is seen to have that, too.
 */
async function resolvePending(vault: VaultSession, keyring: Keyring): Promise<PendingOutcome> {
  const pending = vault.pending ?? (await loadPendingAccount(vault.device));
  if (pending === null) return { kind: "unresolved" };
  if (stringifyCanonical(pending.statement) !== stringifyCanonical(keyring.key_statement)) {
    // a new beginning that is not published yet: it is sent once more, or never
    return { kind: pending.statement.key_epoch > keyring.key_epoch ? "unresolved" : "superseded" };
  }
  const keys = pending.keys ?? vault.keys;
  if (keys === null) return { kind: "unresolved" }; // perhaps ours: the picture tells
  const opening = await openKeyring(vault, keys, vault.pending === null ? null : vault.accountKey, keyring);
  return { kind: "published", opening, complete: await hasSlotAndRecord(vault, pending, keyring) };
}

async function hasSlotAndRecord(
  vault: VaultSession,
  { slot, record }: Pick<FirstAccount, "slot" | "record">,
  keyring: Keyring,
): Promise<boolean> {
  if (!keyring.slots.some((servedSlot) => stringifyCanonical(servedSlot) === stringifyCanonical(slot))) return false;
  const records = await vault.service.getImageRecords();
  return records.some((servedRecord) => servedRecord.id === record.id && servedRecord.helper === record.helper);
}
