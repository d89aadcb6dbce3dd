import {
  fromBase64url,
  hasValidSignature,
  maxOpeners,
  type KeyringChange,
  type KeyStatement,
  type OpenerKind,
} from "@relicario/shared/api";

import { Problem } from "../http/problem.ts";
import { hasExpectedHeader, digestSealedDocument } from "./sealed-header.ts";

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
  if (change.user_id !== accountId) rejectChange("it is another account's");
  if (stored === null) checkFirstChange(accountId, change);
  else checkLaterChange(stored, change);
  checkDocuments(accountId, stored, change);
  checkOpeners(stored, change);
}

/**
 * At `state_rev` 1 the statement in the change speaks for itself, once it names the session's
 * account.
 */
function checkFirstChange(accountId: string, change: KeyringChange): void {
  const { book, shares, slots, key_statement: statement, image_records: records } = change;
  if (
    book === undefined ||
    shares === undefined ||
    slots === undefined ||
    statement === undefined ||
    records === undefined
  ) {
    rejectChange("the first change brings slots, book, shares, state, key statement and image record");
  }
  if (change.key_epoch !== 1 || statement.key_epoch !== 1 || statement.previous_sig !== null)
    rejectChange("the first key epoch is 1");
  checkSelfSignedStatement(accountId, statement, change);
  if ([change.purge, change.purge_versions].some((list) => list !== undefined && list.length > 0))
    rejectChange("there is nothing to purge yet");
  if (change.stage_id !== undefined || change.stage_sha256 !== undefined)
    rejectChange("there is nothing to switch to yet");
}

/**
 * Starts the account anew instead of following its key: another statement speaks for itself, and
 * names no key before it.
 */
export function isAccountReset({ keyEpoch }: StoredKeyring, { key_statement: statement }: KeyringChange): boolean {
  return statement?.previous_sig === null && statement.key_epoch > keyEpoch;
}

/**
 * The same for a change that starts the account anew: it takes the next `key_epoch`, follows the
 * state that is there, is signed by the key that it brings, and leaves no opener of before.
 *
 * @throws Problem `keyring_change_invalid`
 */
export function checkAccountReset(accountId: string, stored: StoredKeyring, change: KeyringChange): void {
  const { book, shares, slots, key_statement: statement, image_records: records } = change;
  if (change.user_id !== accountId) rejectChange("it is another account's");
  if (
    book === undefined ||
    shares === undefined ||
    slots === undefined ||
    statement === undefined ||
    records === undefined
  ) {
    rejectChange("a new beginning brings slots, book, shares, state, key statement and image record");
  }
  if (change.key_epoch !== stored.keyEpoch + 1 || statement.key_epoch !== change.key_epoch)
    rejectChange("the key epoch does not follow");
  checkSelfSignedStatement(accountId, statement, change);
  if ([change.purge, change.purge_versions].some((list) => list !== undefined && list.length > 0))
    rejectChange("everything is set aside already");
  if (change.stage_id !== undefined || change.stage_sha256 !== undefined) rejectChange("there is nothing to switch to");
  const [removedSlots, removedRecords] = [new Set(slots.remove), new Set(records.remove)];
  if (
    !stored.slots.every(({ openerId }) => removedSlots.has(openerId)) ||
    !stored.imageRecordIds.every((id) => removedRecords.has(id))
  )
    rejectChange("an opener of before stays");
  checkDocuments(accountId, stored, change);
  checkOpeners(stored, change);
}

function checkSelfSignedStatement(accountId: string, statement: KeyStatement, change: KeyringChange): void {
  if (statement.user_id !== accountId) rejectChange("the key statement names another account");
  const signingKey = fromBase64url(statement.signing_key);
  if (!hasValidSignature("key", statement, signingKey)) rejectChange("the key statement does not verify");
  if (!hasValidSignature("put", change, signingKey)) rejectChange("the signature does not verify");
}

function checkLaterChange(stored: StoredKeyring, change: KeyringChange): void {
  if (!hasValidSignature("put", change, fromBase64url(stored.keyStatement.signing_key)))
    rejectChange("the signature does not verify");
  if ((change.stage_id === undefined) !== (change.stage_sha256 === undefined))
    rejectChange("a stage is named by id and digest");
  if (change.key_statement !== undefined || change.key_epoch !== stored.keyEpoch) checkRotation(stored, change);
}

/**
 * A new account key: nothing that the one before opens stays, and the rows were sealed anew
 * (stages/stage.ts looks at them).
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
    stage_id: stageId,
  }: KeyringChange,
): void {
  if (statement === undefined || stageId === undefined || epoch !== stored.keyEpoch + 1)
    rejectChange("the account key does not change this way");
  if (book === undefined || shares === undefined || (stored.requests !== null && requests === undefined))
    rejectChange("a new account key seals book, shares and requests anew");
  const replacedOpenerIds = new Set([...(slots?.set ?? []).map(({ opener_id: id }) => id), ...(slots?.remove ?? [])]);
  if (stored.slots.some(({ openerId }) => !replacedOpenerIds.has(openerId)))
    rejectChange("a slot of the account key before would stay");
  if (statement.user_id !== userId || statement.key_epoch !== epoch)
    rejectChange("the key statement names another account or epoch");
  if (
    statement.signing_key === stored.keyStatement.signing_key ||
    statement.recipient === stored.keyStatement.recipient
  )
    rejectChange("the account key is the same");
  if (!hasValidSignature("key", statement, fromBase64url(statement.signing_key)))
    rejectChange("the key statement does not verify");
  const { previous_sig: previousSig, ...statementFields } = statement;
  if (
    previousSig === null ||
    !hasValidSignature("key", { ...statementFields, sig: previousSig }, fromBase64url(stored.keyStatement.signing_key))
  )
    rejectChange("the key before did not sign the key statement");
}

/**
 * Sealed documents whose headers name another account, epoch or predecessor could never be opened
 * again.
 */
function checkDocuments(accountId: string, stored: StoredKeyring | null, change: KeyringChange): void {
  const ownerHeader = { user_id: accountId, key_epoch: change.key_epoch };
  const previous = stored === null ? null : digestSealedDocument(stored.state);
  if (!hasExpectedHeader(change.state, { typ: "relicario-state", ...ownerHeader, previous }))
    rejectChange("the state's header does not fit");
  if (change.book !== undefined && !hasExpectedHeader(change.book, { typ: "relicario-book", ...ownerHeader }))
    rejectChange("the book's header does not fit");
  if (change.shares !== undefined && !hasExpectedHeader(change.shares, { typ: "relicario-shares", ...ownerHeader }))
    rejectChange("the header of shares does not fit");
  if (
    change.requests !== undefined &&
    !hasExpectedHeader(change.requests, { typ: "relicario-requests", ...ownerHeader })
  )
    rejectChange("the header of requests does not fit");
}

function checkOpeners(stored: StoredKeyring | null, change: KeyringChange): void {
  const openerKinds = new Map((stored?.slots ?? []).map(({ openerId, kind }) => [openerId, kind]));
  const recordIds = new Set(stored?.imageRecordIds ?? []);
  const {
    slots = { set: [], remove: [] },
    image_records: recordChanges = { set: [], remove: [] },
    purge = [],
    purge_versions: purgedVersions = [],
  } = change;
  const setSlotIds = slots.set.map((slot) => slot.opener_id);
  const setRecordIds = recordChanges.set.map((record) => record.id);
  if (
    hasDuplicates([...setSlotIds, ...slots.remove]) ||
    hasDuplicates([...setRecordIds, ...recordChanges.remove]) ||
    hasDuplicates(purge)
  )
    rejectChange("an id stands in it twice");
  if (
    hasDuplicates(purgedVersions.map((entry) => entry.secret_db_id)) ||
    purgedVersions.some(({ versions }) => hasDuplicates(versions))
  )
    rejectChange("a version stands in it twice");

  for (const id of slots.remove) if (!openerKinds.delete(id)) rejectChange("it removes a slot that is not there");
  for (const id of recordChanges.remove)
    if (!recordIds.delete(id)) rejectChange("it removes an image record that is not there");
  for (const { opener_id, kind } of slots.set) openerKinds.set(opener_id, kind);
  for (const id of setRecordIds) recordIds.add(id);

  const imageIds = [...openerKinds].filter(([, kind]) => kind === "image").map(([id]) => id);
  if (imageIds.length !== recordIds.size || !imageIds.every((id) => recordIds.has(id)))
    rejectChange("each image has one slot and one record of the same id");
  if (openerKinds.size > maxOpeners) rejectChange("there are too many openers");
  if (![...openerKinds.values()].some((kind) => kind !== "passkey")) rejectChange("a passkey is never the only opener");
}

function rejectChange(detail: string): never {
  throw new Problem("keyring_change_invalid", { detail });
}

function hasDuplicates(ids: readonly (string | number)[]): boolean {
  return new Set(ids).size !== ids.length;
}
