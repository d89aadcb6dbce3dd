import {
  fromB64u,
  hasValidSignature,
  maxOpeners,
  type KeyringChange,
  type KeyStatement,
  type OpenerKind,
} from "@relicario/shared/api";

import { Problem } from "../http/problem.ts";
import { hasHeader, sealedDigest } from "./sealed-header.ts";

/** What the service has, as far as a change is judged by it. */
export interface StoredKeyring {
  readonly keyEpoch: number;
  readonly stateRev: number;
  readonly state: string;
  readonly requests: string | null;
  readonly keyStatement: KeyStatement;
  readonly slots: readonly { readonly openerId: string; readonly kind: OpenerKind }[];
  readonly imageRecordIds: readonly string[];
}

/**
 * Everything that the service can know about a change, but conflicts (they were looked at before).
 * A stolen session alone passes none of this: the signature is by a key that never leaves the
 * device (sealing.md, "Rules").
 *
 * @param stored null before the first change
 * @throws Problem `keyring_change_invalid`
 */
export function checkChange(accountId: string, stored: StoredKeyring | null, change: KeyringChange): void {
  if (change.user_id !== accountId) refuse("it is another account's");
  if (stored === null) checkFirst(accountId, change);
  else checkLater(stored, change);
  checkDocuments(accountId, stored, change);
  checkOpeners(stored, change);
}

/**
 * At `state_rev` 1 the statement in the change speaks for itself, once it names the session's
 * account.
 */
function checkFirst(accountId: string, change: KeyringChange): void {
  const { book, shares, slots, key_statement: statement, image_records: records } = change;
  if (
    book === undefined ||
    shares === undefined ||
    slots === undefined ||
    statement === undefined ||
    records === undefined
  ) {
    refuse("the first change brings slots, book, shares, state, key statement and image record");
  }
  if (change.key_epoch !== 1 || statement.key_epoch !== 1 || statement.previous_sig !== null)
    refuse("the first key epoch is 1");
  checkOwnStatement(accountId, statement, change);
  if ([change.purge, change.purge_versions].some((list) => list !== undefined && list.length > 0))
    refuse("there is nothing to purge yet");
  if (change.stage_id !== undefined || change.stage_sha256 !== undefined) refuse("there is nothing to switch to yet");
}

/**
 * Starts the account anew instead of following its key: another statement speaks for itself, and
 * names no key before it.
 */
export function startsAnew({ keyEpoch }: StoredKeyring, { key_statement: statement }: KeyringChange): boolean {
  return statement?.previous_sig === null && statement.key_epoch > keyEpoch;
}

/**
 * The same for a change that starts the account anew: it takes the next `key_epoch`, follows the
 * state that is there, is signed by the key that it brings, and leaves no opener of before.
 *
 * @throws Problem `keyring_change_invalid`
 */
export function checkAnew(accountId: string, stored: StoredKeyring, change: KeyringChange): void {
  const { book, shares, slots, key_statement: statement, image_records: records } = change;
  if (change.user_id !== accountId) refuse("it is another account's");
  if (
    book === undefined ||
    shares === undefined ||
    slots === undefined ||
    statement === undefined ||
    records === undefined
  ) {
    refuse("a new beginning brings slots, book, shares, state, key statement and image record");
  }
  if (change.key_epoch !== stored.keyEpoch + 1 || statement.key_epoch !== change.key_epoch)
    refuse("the key epoch does not follow");
  checkOwnStatement(accountId, statement, change);
  if ([change.purge, change.purge_versions].some((list) => list !== undefined && list.length > 0))
    refuse("everything is set aside already");
  if (change.stage_id !== undefined || change.stage_sha256 !== undefined) refuse("there is nothing to switch to");
  const [removedSlots, removedRecords] = [new Set(slots.remove), new Set(records.remove)];
  if (
    !stored.slots.every(({ openerId }) => removedSlots.has(openerId)) ||
    !stored.imageRecordIds.every((id) => removedRecords.has(id))
  )
    refuse("an opener of before stays");
  checkDocuments(accountId, stored, change);
  checkOpeners(stored, change);
}

function checkOwnStatement(accountId: string, statement: KeyStatement, change: KeyringChange): void {
  if (statement.user_id !== accountId) refuse("the key statement names another account");
  const signingKey = fromB64u(statement.signing_key);
  if (!hasValidSignature("key", statement, signingKey)) refuse("the key statement does not verify");
  if (!hasValidSignature("put", change, signingKey)) refuse("the signature does not verify");
}

function checkLater(stored: StoredKeyring, change: KeyringChange): void {
  if (!hasValidSignature("put", change, fromB64u(stored.keyStatement.signing_key)))
    refuse("the signature does not verify");
  if ((change.stage_id === undefined) !== (change.stage_sha256 === undefined))
    refuse("a stage is named by id and digest");
  if (change.key_statement !== undefined || change.key_epoch !== stored.keyEpoch) checkRotation(stored, change);
}

/**
 * A new account key: nothing that the one before opens stays, and the rows were sealed anew
 * (keyring/stage.ts looks at them).
 */
function checkRotation(
  stored: StoredKeyring,
  {
    user_id: userId,
    key_epoch: epoch,
    key_statement: statement,
    book,
    shares,
    requests,
    slots,
    stage_id: stage,
  }: KeyringChange,
): void {
  if (statement === undefined || stage === undefined || epoch !== stored.keyEpoch + 1)
    refuse("the account key does not change this way");
  if (book === undefined || shares === undefined || (stored.requests !== null && requests === undefined))
    refuse("a new account key seals book, shares and requests anew");
  const touched = new Set([...(slots?.set ?? []).map(({ opener_id: id }) => id), ...(slots?.remove ?? [])]);
  if (stored.slots.some(({ openerId }) => !touched.has(openerId)))
    refuse("a slot of the account key before would stay");
  if (statement.user_id !== userId || statement.key_epoch !== epoch)
    refuse("the key statement names another account or epoch");
  if (
    statement.signing_key === stored.keyStatement.signing_key ||
    statement.recipient === stored.keyStatement.recipient
  )
    refuse("the account key is the same");
  if (!hasValidSignature("key", statement, fromB64u(statement.signing_key)))
    refuse("the key statement does not verify");
  const { previous_sig: previousSig, ...unsigned } = statement;
  if (
    previousSig === null ||
    !hasValidSignature("key", { ...unsigned, sig: previousSig }, fromB64u(stored.keyStatement.signing_key))
  )
    refuse("the key before did not sign the key statement");
}

/**
 * Sealed documents whose headers name another account, epoch or predecessor could never be opened
 * again.
 */
function checkDocuments(accountId: string, stored: StoredKeyring | null, change: KeyringChange): void {
  const whose = { user_id: accountId, key_epoch: change.key_epoch };
  const previous = stored === null ? null : sealedDigest(stored.state);
  if (!hasHeader(change.state, { typ: "relicario-state", ...whose, previous }))
    refuse("the state's header does not fit");
  if (change.book !== undefined && !hasHeader(change.book, { typ: "relicario-book", ...whose }))
    refuse("the book's header does not fit");
  if (change.shares !== undefined && !hasHeader(change.shares, { typ: "relicario-shares", ...whose }))
    refuse("the header of shares does not fit");
  if (change.requests !== undefined && !hasHeader(change.requests, { typ: "relicario-requests", ...whose }))
    refuse("the header of requests does not fit");
}

function checkOpeners(stored: StoredKeyring | null, change: KeyringChange): void {
  const kinds = new Map((stored?.slots ?? []).map(({ openerId, kind }) => [openerId, kind]));
  const records = new Set(stored?.imageRecordIds ?? []);
  const {
    slots = { set: [], remove: [] },
    image_records: changed = { set: [], remove: [] },
    purge = [],
    purge_versions: formers = [],
  } = change;
  const setSlots = slots.set.map((slot) => slot.opener_id);
  const setRecords = changed.set.map((record) => record.id);
  if (hasDoubles([...setSlots, ...slots.remove]) || hasDoubles([...setRecords, ...changed.remove]) || hasDoubles(purge))
    refuse("an id stands in it twice");
  if (hasDoubles(formers.map((former) => former.secret_db_id)) || formers.some(({ versions }) => hasDoubles(versions)))
    refuse("a version stands in it twice");

  for (const id of slots.remove) if (!kinds.delete(id)) refuse("it removes a slot that is not there");
  for (const id of changed.remove) if (!records.delete(id)) refuse("it removes an image record that is not there");
  for (const { opener_id, kind } of slots.set) kinds.set(opener_id, kind);
  for (const id of setRecords) records.add(id);

  const images = [...kinds].filter(([, kind]) => kind === "image").map(([id]) => id);
  if (images.length !== records.size || !images.every((id) => records.has(id)))
    refuse("each image has one slot and one record of the same id");
  if (kinds.size > maxOpeners) refuse("there are too many openers");
  if (![...kinds.values()].some((kind) => kind !== "passkey")) refuse("a passkey is never the only opener");
}

function refuse(detail: string): never {
  throw new Problem("keyring_change_invalid", { detail });
}

function hasDoubles(ids: readonly (string | number)[]): boolean {
  return new Set(ids).size !== ids.length;
}
