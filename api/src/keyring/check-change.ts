import {
  fromBase64url,
  maxOpeners,
  needsAuthorSignature,
  type KeyringChange,
  type KeyStatement,
  type OpenerKind,
  type TicketSignature,
} from "@relicario/shared/api";
import {
  hasValidAuthorSignature,
  hasValidSignature,
  hasValidTicketSignature,
  isSelfSigned,
} from "@relicario/shared/api/signatures";

import { Problem } from "../http/problem.ts";
import { hasExpectedHeader, digestSealedDocument } from "./sealed-header.ts";

/** The stored keyring, as far as checks need it. */
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
 * Checks everything that the service can verify, except conflicts, which are checked earlier. A
 * stolen session is not enough to pass: the signing key never leaves the device (docs/formats.md).
 * Metadata keys alone are not enough where the author key must sign ([Note: Authority]).
 *
 * @param storedKeyring null before the first change
 * @throws Problem `keyring_change_invalid`
 */
export function checkChange(accountId: string, storedKeyring: StoredKeyring | null, change: KeyringChange): void {
  if (change.user_id !== accountId) rejectChange("the change names another account");
  if (storedKeyring === null) checkFirstChange(accountId, change);
  else checkLaterChange(storedKeyring, change);
  checkDocuments(accountId, storedKeyring, change);
  checkOpeners(storedKeyring, change);
}

/**
 * At `state_rev` 1 the key statement in the change signs itself; it must name the session's
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
    rejectChange("the first change needs slots, book, shares, state, key statement and image record");
  }
  if (change.key_epoch !== 1 || statement.key_epoch !== 1 || statement.previous_sig !== null)
    rejectChange("the first key epoch is 1");
  checkSelfSignedStatement(accountId, statement, change);
  if ([change.purge, change.purge_versions].some((list) => list !== undefined && list.length > 0))
    rejectChange("there is nothing to purge yet");
  if (change.stage_id !== undefined || change.stage_sha256 !== undefined) rejectChange("there is no stage yet");
}

/** Whether the change resets the account: its key statement names no previous key. */
export function isAccountReset({ keyEpoch }: StoredKeyring, { key_statement: statement }: KeyringChange): boolean {
  return statement?.previous_sig === null && statement.key_epoch > keyEpoch;
}

/**
 * As {@link checkChange}, for a change that resets the account: it takes the next `key_epoch`,
 * follows the stored state, is signed by the key that it brings, and removes every former opener.
 *
 * @throws Problem `keyring_change_invalid`
 */
export function checkAccountReset(accountId: string, storedKeyring: StoredKeyring, change: KeyringChange): void {
  const { book, shares, slots, key_statement: statement, image_records: records } = change;
  if (change.user_id !== accountId) rejectChange("the change names another account");
  if (
    book === undefined ||
    shares === undefined ||
    slots === undefined ||
    statement === undefined ||
    records === undefined
  ) {
    rejectChange("an account reset needs slots, book, shares, state, key statement and image record");
  }
  if (change.key_epoch !== storedKeyring.keyEpoch + 1 || statement.key_epoch !== change.key_epoch)
    rejectChange("the key epoch is not the next one");
  checkSelfSignedStatement(accountId, statement, change);
  if ([change.purge, change.purge_versions].some((list) => list !== undefined && list.length > 0))
    rejectChange("an account reset purges nothing");
  if (change.stage_id !== undefined || change.stage_sha256 !== undefined) rejectChange("an account reset has no stage");
  const [removedSlots, removedRecords] = [new Set(slots.remove), new Set(records.remove)];
  if (
    !storedKeyring.slots.every(({ openerId }) => removedSlots.has(openerId)) ||
    !storedKeyring.imageRecordIds.every((id) => removedRecords.has(id))
  )
    rejectChange("a former opener is not removed");
  checkDocuments(accountId, storedKeyring, change);
  checkOpeners(storedKeyring, change);
}

function checkSelfSignedStatement(accountId: string, statement: KeyStatement, change: KeyringChange): void {
  if (statement.user_id !== accountId) rejectChange("the key statement names another account");
  if (!isSelfSigned(statement)) rejectChange("the key statement does not verify");
  checkSignatures(statement, change);
}

/** @param statement registered before the change; of a first change and a reset, the one in it */
function checkSignatures(statement: KeyStatement, change: KeyringChange): void {
  if (!hasValidSignature("put", change, fromBase64url(statement.signing_key)))
    rejectChange("the signature does not verify");
  if (change.author_sig !== undefined || needsAuthorSignature(change)) requireAuthor(statement, change);
}

/**
 * For a call that needs the author key although its change alone does not.
 *
 * @throws Problem `keyring_change_invalid`
 */
export function requireAuthor(statement: KeyStatement | undefined, change: KeyringChange): void {
  if (statement === undefined || !hasValidAuthorSignature(change, statement.author_key))
    rejectChange("the author's signature does not verify");
}

/** What a ticket's signature must name. */
export type SignedTicket = Omit<Parameters<typeof hasValidTicketSignature>[1], "user_id">;

/** @throws Problem `keyring_change_invalid` */
export function checkTicketSignature(
  storedKeyring: Pick<StoredKeyring, "keyStatement"> | null,
  { user_id, key_statement: firstStatement }: KeyringChange,
  signature: TicketSignature,
  ticket: SignedTicket,
): void {
  const statement = storedKeyring?.keyStatement ?? firstStatement;
  if (statement === undefined || !hasValidTicketSignature(signature, { user_id, ...ticket }, statement.author_key))
    rejectChange("the ticket's signature does not verify");
}

function checkLaterChange(storedKeyring: StoredKeyring, change: KeyringChange): void {
  checkSignatures(storedKeyring.keyStatement, change);
  if ((change.stage_id === undefined) !== (change.stage_sha256 === undefined))
    rejectChange("a stage is named by id and digest");
  if (change.key_statement !== undefined || change.key_epoch !== storedKeyring.keyEpoch)
    checkRotation(storedKeyring, change);
}

/**
 * A new account key: every slot of the former one is replaced, and all rows are re-sealed (checked
 * by stages/stage.ts).
 */
function checkRotation(
  storedKeyring: StoredKeyring,
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
  if (statement === undefined || stageId === undefined || epoch !== storedKeyring.keyEpoch + 1)
    rejectChange("a new account key needs a statement, a stage and the next epoch");
  if (book === undefined || shares === undefined || (storedKeyring.requests !== null && requests === undefined))
    rejectChange("a new account key needs a new book, shares and requests");
  const replacedOpenerIds = new Set([...(slots?.set ?? []).map(({ opener_id: id }) => id), ...(slots?.remove ?? [])]);
  if (storedKeyring.slots.some(({ openerId }) => !replacedOpenerIds.has(openerId)))
    rejectChange("a slot of the former account key is not replaced");
  if (statement.user_id !== userId || statement.key_epoch !== epoch)
    rejectChange("the key statement names another account or epoch");
  if (
    statement.signing_key === storedKeyring.keyStatement.signing_key ||
    statement.author_key === storedKeyring.keyStatement.author_key ||
    statement.recipient === storedKeyring.keyStatement.recipient
  )
    rejectChange("the account key is the same");
  if (!isSelfSigned(statement)) rejectChange("the key statement does not verify");
  const { previous_sig: previousSig, ...statementFields } = statement;
  if (
    previousSig === null ||
    !hasValidSignature(
      "key",
      { ...statementFields, sig: previousSig },
      fromBase64url(storedKeyring.keyStatement.author_key),
    )
  )
    rejectChange("the former key did not sign the key statement");
}

/**
 * Checks the headers of sealed documents: a document whose header names another account, epoch or
 * predecessor could never be opened.
 */
function checkDocuments(accountId: string, storedKeyring: StoredKeyring | null, change: KeyringChange): void {
  const ownerHeader = { user_id: accountId, key_epoch: change.key_epoch };
  const previous = storedKeyring === null ? null : digestSealedDocument(storedKeyring.state);
  if (!hasExpectedHeader(change.state, { typ: "relicario-state", ...ownerHeader, previous }))
    rejectChange("the state's header is wrong");
  if (change.book !== undefined && !hasExpectedHeader(change.book, { typ: "relicario-book", ...ownerHeader }))
    rejectChange("the book's header is wrong");
  if (change.shares !== undefined && !hasExpectedHeader(change.shares, { typ: "relicario-shares", ...ownerHeader }))
    rejectChange("the header of shares is wrong");
  if (
    change.requests !== undefined &&
    !hasExpectedHeader(change.requests, { typ: "relicario-requests", ...ownerHeader })
  )
    rejectChange("the header of requests is wrong");
}

function checkOpeners(storedKeyring: StoredKeyring | null, change: KeyringChange): void {
  const openerKinds = new Map((storedKeyring?.slots ?? []).map(({ openerId, kind }) => [openerId, kind]));
  const recordIds = new Set(storedKeyring?.imageRecordIds ?? []);
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
    rejectChange("an id occurs twice");
  if (
    hasDuplicates(purgedVersions.map((entry) => entry.secret_db_id)) ||
    purgedVersions.some(({ versions }) => hasDuplicates(versions))
  )
    rejectChange("a version occurs twice");

  for (const id of slots.remove) if (!openerKinds.delete(id)) rejectChange("it removes a slot that does not exist");
  for (const id of recordChanges.remove)
    if (!recordIds.delete(id)) rejectChange("it removes an image record that does not exist");
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
