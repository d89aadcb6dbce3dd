import { bytesToHex } from "@noble/hashes/utils.js";
import {
  encodeCanonical,
  stringifyCanonical,
  fromBase64url,
  maxOpeners,
  needsAuthorSignature,
  toBase64url,
  type Json,
  type Keyring,
  type KeyringChange,
  type StagedRow,
  type TicketSignature,
} from "@relicario/shared/api";
import {
  hasValidAuthorSignature,
  hasValidSignature,
  hasValidTicketSignature,
  isSelfSigned,
} from "@relicario/shared/api/signatures";

import { sha256, utf8 } from "../seal/bytes.ts";
import { parseUnverifiedHeader, type JweType } from "../seal/document.ts";
import { computeStateDigest } from "../seal/state.ts";
import {
  refusal,
  lastOf,
  readSealedSource,
  listStagedRows,
  touch,
  type FakeAccount,
  type FakeCall,
} from "./fake-account.ts";

type FakeKeyring = NonNullable<FakeAccount["keyring"]>;

/** The rest of the call, and the secret that it stores. */
export interface ChangeCall {
  readonly rest?: Json;
  readonly secret?: { readonly id: string; readonly version: number };
  /** The call needs the author key, although its change does not. */
  readonly authored?: boolean;
  readonly tickets?: readonly FakeSignedTicket[];
}

export interface FakeSignedTicket {
  readonly signature: TicketSignature | undefined;
  readonly secretId: string;
  readonly version: number;
  readonly shareId: string | null;
  readonly ticket: string;
  /** Sealed, base64url. */
  readonly content: string;
}

/**
 * Finds the last call if it is the same; otherwise returns null.
 *
 * @throws PortalError `state_conflict` if the same change has another rest
 */
export function findRepeatedCall(
  { keyring }: FakeAccount,
  change: KeyringChange,
  { rest }: ChangeCall = {},
): FakeCall | null {
  if (keyring?.lastCall.change !== stringifyCanonical(change)) return null;
  if (rest !== undefined && stringifyCanonical(rest) !== keyring.lastCall.rest) throw refusal("state_conflict");
  return keyring.lastCall;
}

/** Returns the new `state_rev`. */
export function applyChange(
  account: FakeAccount,
  userId: string,
  change: KeyringChange,
  { rest, secret, authored = false, tickets = [] }: ChangeCall = {},
): number {
  const current = account.keyring;
  if (current === null && change.state_rev !== 1) throw refusal("no_keyring");
  // checked before the signature, which another key makes when an account is created
  if (change.state_rev !== (lastOf(current?.states)?.state_rev ?? 0) + 1) throw refusal("state_conflict");
  const isReset =
    current !== null &&
    change.key_statement?.previous_sig === null &&
    change.key_statement.key_epoch > current.keyEpoch;
  if (isReset && account.accountReset !== "ready") throw refusal("conflict");
  const isRotation =
    current !== null && !isReset && (change.key_epoch !== current.keyEpoch || change.key_statement !== undefined);
  const { book = current?.book, shares = current?.shares, key_statement: statement = current?.keyStatement } = change;
  if (book === undefined || shares === undefined || statement === undefined || change.user_id !== userId)
    throw refusal("keyring_change_invalid");
  // the first change comes with the first secret
  if (current === null && secret === undefined) throw refusal("keyring_change_invalid");
  if (current === null || isReset) checkInitialChange(change, current);
  else if (!hasValidSignature("put", change, fromBase64url(current.keyStatement.signing_key)))
    throw refusal("keyring_change_invalid");
  const { author_key: authorKey } = isReset ? statement : (current?.keyStatement ?? statement);
  const needsAuthor = authored || change.author_sig !== undefined || needsAuthorSignature(change);
  if (needsAuthor && !hasValidAuthorSignature(change, authorKey)) throw refusal("keyring_change_invalid");
  for (const ticket of tickets) checkTicket(userId, authorKey, ticket);
  if ((change.stage_id === undefined) !== (change.stage_sha256 === undefined)) throw refusal("keyring_change_invalid");
  if (isRotation) checkRotation(current, change, statement);
  checkHeaders(current, change);
  checkOpeners(current, change);
  if (secret !== undefined && (change.stage_id !== undefined || change.purge?.includes(secret.id) === true))
    throw refusal("keyring_change_invalid");
  const rowsToApply = change.stage_id === undefined ? null : checkStage(account, change, isRotation);
  for (const id of change.purge ?? [])
    if (account.rows.get(id)?.deletedAt == null) throw refusal("keyring_change_invalid");
  for (const { secret_db_id: id, versions } of change.purge_versions ?? []) {
    const versionCount = account.rows.get(id)?.versions.length ?? 0;
    if (versions.some((version) => version >= versionCount)) throw refusal("keyring_change_invalid");
  }

  const purgedIds = isReset ? [...account.rows.keys()] : (change.purge ?? []);
  for (const id of purgedIds) {
    account.rows.delete(id);
    account.purged = new Map(account.purged).set(id, ++account.changes);
  }
  for (const id of change.trash_confirm ?? []) {
    const row = account.rows.get(id);
    if (row?.deletedAt == null || row.trashConfirmedAt !== undefined) continue;
    row.trashConfirmedAt = row.deletedAt;
    touch(account, row);
  }
  for (const { secret_db_id: id, versions } of change.purge_versions ?? []) {
    for (const [index, version] of account.rows.get(id)?.versions.entries() ?? [])
      if (versions.includes(index + 1)) version.dropped = true;
  }
  if (isReset) account.accountReset = "begun";
  if (rowsToApply !== null) switchToStage(account, rowsToApply);
  if (isReset || isRotation)
    for (const request of account.requests?.values() ?? [])
      if (isReset || request.state === "awaiting") request.state = "revoked";
  const { slots, image_records: records } = change;
  account.keyring = {
    keyEpoch: change.key_epoch,
    states: [...(current?.states ?? []), { state_rev: change.state_rev, state: change.state }],
    book,
    shares,
    requests: change.requests ?? (isReset ? null : current?.requests) ?? null,
    slots: mergeList(current?.slots ?? [], ({ opener_id: id }) => id, slots),
    keyStatement: statement,
    imageRecords: mergeList(current?.imageRecords ?? [], ({ id }) => id, records),
    lastCall: {
      change: stringifyCanonical(change),
      rest: rest === undefined ? null : stringifyCanonical(rest),
      version: secret?.version ?? null,
    },
  };
  return change.state_rev;
}

function checkTicket(userId: string, authorKey: string, signed: FakeSignedTicket): void {
  const { signature, secretId, version, shareId, ticket, content } = signed;
  const facts = {
    user_id: userId,
    secret_id: secretId,
    version,
    share_id: shareId,
    ticket_sha256: toBase64url(sha256(fromBase64url(ticket))),
    content_sha256: toBase64url(sha256(fromBase64url(content))),
  };
  if (signature === undefined || !hasValidTicketSignature(signature, facts, authorKey))
    throw refusal("keyring_change_invalid");
}

function mergeList<T>(
  items: readonly T[],
  getId: (item: T) => string,
  { set, remove }: { readonly set: readonly T[]; readonly remove: readonly string[] } = { set: [], remove: [] },
): T[] {
  const replacedIds = new Set([...set.map(getId), ...remove]);
  return [...items.filter((item) => !replacedIds.has(getId(item))), ...set];
}

/** No earlier key signs the first statement, or the statement of a reset. */
function checkInitialChange(change: KeyringChange, current: FakeKeyring | null): void {
  const { book, shares, slots, image_records: records, key_statement: statement } = change;
  if (
    book === undefined ||
    shares === undefined ||
    slots === undefined ||
    records === undefined ||
    statement === undefined
  )
    throw refusal("keyring_change_invalid");
  const isNextEpoch =
    change.key_epoch === (current?.keyEpoch ?? 0) + 1 &&
    statement.key_epoch === change.key_epoch &&
    statement.previous_sig === null &&
    statement.user_id === change.user_id;
  const removesFormerOpeners =
    current?.slots.every(({ opener_id: id }) => slots.remove.includes(id)) !== false &&
    current?.imageRecords.every(({ id }) => records.remove.includes(id)) !== false;
  const hasNoOtherParts = [change.purge, change.purge_versions, change.stage_id].every(
    (member) => member === undefined || member.length === 0,
  );
  if (
    !isNextEpoch ||
    !removesFormerOpeners ||
    !hasNoOtherParts ||
    !isSelfSigned(statement) ||
    !hasValidSignature("put", change, fromBase64url(statement.signing_key))
  )
    throw refusal("keyring_change_invalid");
}

function checkRotation(current: FakeKeyring, change: KeyringChange, statement: Keyring["key_statement"]): void {
  const touchedIds = [...(change.slots?.set ?? []).map(({ opener_id: id }) => id), ...(change.slots?.remove ?? [])];
  const { previous_sig: previousSig, ...statementFields } = statement;
  const isComplete =
    change.book !== undefined &&
    change.shares !== undefined &&
    (current.requests === null || change.requests !== undefined) &&
    change.stage_id !== undefined;
  const isSigned =
    previousSig !== null &&
    hasValidSignature(
      "key",
      { ...statementFields, sig: previousSig },
      fromBase64url(current.keyStatement.author_key),
    ) &&
    isSelfSigned(statement);
  const isNextEpoch =
    change.key_epoch === current.keyEpoch + 1 &&
    statement.key_epoch === change.key_epoch &&
    statement.user_id === change.user_id;
  const isNew =
    statement.signing_key !== current.keyStatement.signing_key &&
    statement.author_key !== current.keyStatement.author_key &&
    statement.recipient !== current.keyStatement.recipient;
  if (
    !isComplete ||
    !isSigned ||
    !isNextEpoch ||
    !isNew ||
    current.slots.some(({ opener_id: id }) => !touchedIds.includes(id))
  )
    throw refusal("keyring_change_invalid");
}

function checkHeaders(
  current: FakeKeyring | null,
  { user_id, key_epoch, state, book, shares, requests }: KeyringChange,
): void {
  const lastState = lastOf(current?.states);
  requireHeader(state, "relicario-state", {
    user_id,
    key_epoch,
    previous: lastState === undefined ? null : computeStateDigest(lastState.state),
  });
  for (const [typ, jwe] of [
    ["relicario-book", book],
    ["relicario-shares", shares],
    ["relicario-requests", requests],
  ] as const)
    if (jwe !== undefined) requireHeader(jwe, typ, { user_id, key_epoch });
}

/** @throws PortalError `keyring_change_invalid` for the label of another row */
export function requireLabel(
  label: string,
  { user_id, key_epoch }: Pick<KeyringChange, "user_id" | "key_epoch">,
  secret_id: string,
  version: number,
): void {
  requireHeader(label, "relicario-label", {
    user_id,
    key_epoch,
    secret_id,
    version,
    rev: parseUnverifiedHeader(label)["rev"],
  });
}

function requireHeader(jwe: string, typ: JweType, members: Readonly<Record<string, unknown>>): void {
  const header = parseUnverifiedHeader(jwe);
  const expected = Object.entries({ alg: "dir", enc: "A256GCM", typ, ...members });
  if (Object.keys(header).length !== expected.length || expected.some(([name, value]) => header[name] !== value))
    throw refusal("keyring_change_invalid");
}

function checkOpeners(
  current: FakeKeyring | null,
  { slots, image_records: records, purge = [], purge_versions: purgedVersions = [] }: KeyringChange,
): void {
  const lists = [
    [...(slots?.set ?? []).map(({ opener_id: id }) => id), ...(slots?.remove ?? [])],
    [...(records?.set ?? []).map(({ id }) => id), ...(records?.remove ?? [])],
    purge,
    purgedVersions.map(({ secret_db_id: id }) => id),
    ...purgedVersions.map(({ versions }) => versions),
  ];
  const hasDuplicates = lists.some((list) => new Set<string | number>(list).size !== list.length);
  const removesUnknown =
    slots?.remove.some((id) => current?.slots.some((slot) => slot.opener_id === id) !== true) === true ||
    records?.remove.some((id) => current?.imageRecords.some((record) => record.id === id) !== true) === true;
  const slotsAfter = mergeList(current?.slots ?? [], ({ opener_id: id }) => id, slots);
  const images = slotsAfter.filter(({ kind }) => kind === "image").map(({ opener_id: id }) => id);
  const recordIds = mergeList(current?.imageRecords ?? [], ({ id }) => id, records).map(({ id }) => id);
  const isPaired = images.length === recordIds.length && images.every((id) => recordIds.includes(id));
  if (
    hasDuplicates ||
    removesUnknown ||
    !isPaired ||
    slotsAfter.length > maxOpeners ||
    slotsAfter.every(({ kind }) => kind === "passkey")
  )
    throw refusal("keyring_change_invalid");
}

function checkStage(account: FakeAccount, change: KeyringChange, isRotation: boolean): readonly StagedRow[] {
  const { stage } = account;
  const rows = listStagedRows(account);
  if (stage?.id !== change.stage_id) throw refusal("conflict");
  const lines = rows.map(
    (row) => `${row.secret_db_id} ${String(row.version)} ${bytesToHex(sha256(encodeCanonical(row)))}\n`,
  );
  if (toBase64url(sha256(utf8(lines.join("")))) !== change.stage_sha256) throw refusal("conflict");
  const labelledIds = new Set(rows.filter(({ label }) => label !== undefined).map(({ secret_db_id: id }) => id));
  const isStale = [...(stage?.rows.values() ?? [])].some(
    ({ row, source }) =>
      !labelledIds.has(row.secret_db_id) ||
      !isUnchanged(account, row, source) ||
      (row.label !== undefined && parseUnverifiedHeader(row.label)["key_epoch"] !== change.key_epoch),
  );
  if (isStale || (isRotation && [...account.rows.keys()].some((id) => !labelledIds.has(id)))) throw refusal("conflict");
  return rows;
}

function isUnchanged(account: FakeAccount, row: StagedRow, source: string): boolean {
  try {
    return readSealedSource(account, row) === source;
  } catch {
    return false; // purged, or an earlier version by now
  }
}

function switchToStage(account: FakeAccount, rows: readonly StagedRow[]): void {
  for (const { secret_db_id: id, version, label, ticket, content } of rows) {
    const row = account.rows.get(id);
    const storedVersion = row?.versions[version - 1];
    if (row === undefined || storedVersion === undefined) throw refusal("conflict");
    Object.assign(storedVersion, {
      ...(label === undefined ? {} : { label }),
      ...(ticket === undefined ? {} : { ticket }),
      ...(content === undefined ? {} : { content }),
    });
    touch(account, row);
  }
  delete account.stage;
}
