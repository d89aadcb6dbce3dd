import { stringifyCanonical, fromBase64url, toBase64url, type Keyring, type KeyStatement } from "@relicario/shared/api";
import { isSelfSigned } from "@relicario/shared/api/signatures";
import { PortalError } from "@relicario/shared/errors";

import type { StateCheckpoint } from "../device/device.ts";
import { loadPendingAccount, type NewAccountDocuments, type UnpublishedAccount } from "../device/pending-account.ts";
import type { AccountKey, MetadataKeys } from "../seal/account-key.ts";
import { openBook } from "../seal/book.ts";
import { computeJweDigest } from "../seal/document.ts";
import { isOwnKeyStatement, hasValidPreviousSignature } from "../seal/account-signatures.ts";
import { openRequests } from "../seal/requests.ts";
import { openShares } from "../seal/shares.ts";
import { openState, parseUnverifiedPrevious, computeStateDigest } from "../seal/state.ts";
import type { PendingAccountOutcome, VerifiedKeyring, VerifiedContents } from "../session/keyring-views.ts";
import type { VaultSession } from "../session/vault-session.ts";
import type { VerifiedInner } from "../device/verified-inner.ts";
import { openVerifiedInner } from "./verified-inner.ts";

/** A state that another device of the account has verified. The keyring must descend from it. */
export interface Witness {
  readonly stateRev: number;
  /** base64url. */
  readonly stateSha256: string;
}

interface FetchKeyringOptions {
  readonly signal?: AbortSignal | undefined;
  readonly witness?: Witness | null;
  /**
   * Whether to leave a keyring unopened that supersedes the pending account, because the caller
   * stops there.
   */
  readonly stopWhenSuperseded?: boolean;
}

/**
 * Fetches the keyring, and verifies it against this device's checkpoint with the session's keys.
 * Changes neither the session nor the device. Null if the account was never created.
 *
 * @throws PortalError `older_state`, `keyring_missing`, `own_key_changed`, `openers_changed`,
 *   `decryption_failed`; `histories_differ` if the keyring does not descend from the witness
 */
export async function fetchVerifiedKeyring(
  vault: VaultSession,
  { signal, witness = null, stopWhenSuperseded = false }: FetchKeyringOptions = {},
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
  const { adoptedAccount } = vault;
  const pendingAccount = await resolvePendingAccount(vault, adoptedAccount, keyring);
  if (pendingAccount.kind === "published" && adoptedAccount !== null)
    return { keyring, contents: pendingAccount.contents, pendingAccount };
  const isSuperseded = pendingAccount.kind === "superseded";
  const { keys, accountKey } = vault;
  // a higher epoch is only a claim, perhaps after a rotation elsewhere: only an opener can verify
  // it
  if (keys === null || keyring.key_epoch > keys.keyEpoch || (isSuperseded && stopWhenSuperseded))
    return { keyring, contents: null, pendingAccount };
  return { keyring, contents: await openKeyring(vault, keys, accountKey, keyring), pendingAccount };
}

/**
 * Fetches the keyring that a reset follows, without opening it. The keyring must descend from this
 * device's checkpoint. Its key statement must be signed by its own key and have no lower epoch; the
 * same epoch must have the same keys.
 *
 * @throws PortalError `no_keyring`, `older_state`, `keyring_missing`, `own_key_changed`
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
  const isVerified = statement.user_id === vault.userId && statement.key_epoch === keyEpoch && isSelfSigned(statement);
  if (!isVerified || (checkpoint !== null && !isSuccessorOf(statement, checkpoint)))
    throw new PortalError("own_key_changed");
  return keyring;
}

function isSuccessorOf(statement: KeyStatement, checkpoint: StateCheckpoint): boolean {
  if (statement.key_epoch !== checkpoint.keyEpoch) return statement.key_epoch > checkpoint.keyEpoch;
  return (
    statement.signing_key === checkpoint.signingKey &&
    statement.author_key === checkpoint.authorKey &&
    statement.recipient === checkpoint.recipient
  );
}

/**
 * Opens the keyring's documents and checks that they belong together. Also verifies the book's
 * `inner` if there is an account key.
 *
 * @throws PortalError `own_key_changed`, `openers_changed`, `older_state`, `decryption_failed`
 */
export async function openKeyring(
  vault: VaultSession,
  keys: MetadataKeys,
  accountKey: AccountKey | null,
  keyring: Keyring,
): Promise<VerifiedContents> {
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
  const inner = accountKey === null ? null : await openVerifiedInner(vault, accountKey, openedKeyring);
  if (inner !== null) await assertPreviousKey(vault, keyring.key_statement, inner);
  return { openedKeyring, inner };
}

/**
 * If a statement names a previous author key that the book's `inner` or this device knows, requires
 * that key's signature.
 */
async function assertPreviousKey(
  vault: VaultSession,
  statement: KeyStatement,
  { oldAuthorKeys }: VerifiedInner,
): Promise<void> {
  const checkpoint = await vault.loadCheckpoint();
  const knownKeys = [
    ...oldAuthorKeys,
    ...(checkpoint === null ? [] : [{ keyEpoch: checkpoint.keyEpoch, authorKey: fromBase64url(checkpoint.authorKey) }]),
  ];
  if (!hasValidPreviousSignature(statement, knownKeys)) throw new PortalError("own_key_changed");
}

/**
 * Whether the chain of `previous` digests leads from the keyring's state back to `ancestor`, across
 * key epochs. False for a lower `state_rev`, for another state with the ancestor's `state_rev`, and
 * for a gap or a fork.
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

/** @param checkpoint the state that this device remembers, for the details of the error */
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
 * Throws `keyring_missing` if the service has rows or this device has data of the account, so that
 * a missing keyring is never taken for a new account.
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
 * Finds out after a crash whether the pending account was published. If so, the keyring has its key
 * statement and opens under its keys, which the session still has or an opener provides. Any other
 * key statement supersedes the account. The device may hold the only copy of the account's slot, so
 * the account counts as published only when the service also has the slot and the image record.
 */
async function resolvePendingAccount(
  vault: VaultSession,
  adoptedAccount: UnpublishedAccount | null,
  keyring: Keyring,
): Promise<PendingAccountOutcome> {
  const pendingAccount = adoptedAccount?.documents ?? (await loadPendingAccount(vault.device));
  if (pendingAccount === null) return { kind: "unresolved" };
  const { sig: statementSig, key_epoch: keyEpoch } = pendingAccount.statement;
  if (stringifyCanonical(pendingAccount.statement) !== stringifyCanonical(keyring.key_statement)) {
    // a reset that is not published yet; it may be sent again
    return keyEpoch > keyring.key_epoch ? { kind: "unresolved" } : { kind: "superseded", statementSig };
  }
  const keys = pendingAccount.keys ?? vault.keys;
  if (keys === null) return { kind: "unresolved" }; // unknown until the account's picture is presented
  const contents = await openKeyring(vault, keys, adoptedAccount?.accountKey ?? null, keyring);
  return {
    kind: "published",
    statementSig,
    contents,
    hasSlotAndRecord: await hasSlotAndRecord(vault, pendingAccount, keyring),
  };
}

async function hasSlotAndRecord(
  vault: VaultSession,
  { slot, record }: Pick<NewAccountDocuments, "slot" | "record">,
  keyring: Keyring,
): Promise<boolean> {
  if (!keyring.slots.some((servedSlot) => stringifyCanonical(servedSlot) === stringifyCanonical(slot))) return false;
  const records = await vault.service.getImageRecords();
  return records.some((servedRecord) => servedRecord.id === record.id && servedRecord.helper === record.helper);
}
