import { bytesToHex } from "@noble/hashes/utils.js";
import {
  canonicalBytes,
  canonicalText,
  fromB64u,
  hasValidSignature,
  maxOpeners,
  toB64u,
  type Json,
  type Keyring,
  type KeyringChange,
  type StagedRow,
} from "@relicario/shared/api";

import { sha256, utf8 } from "../seal/bytes.ts";
import { headerOf, type JweType } from "../seal/document.ts";
import { stateDigest } from "../seal/state.ts";
import { fail, lastOf, placeOf, stagedRows, touch, type FakeAccount, type FakeCall } from "./fake-account.ts";

type FakeKeyring = NonNullable<FakeAccount["keyring"]>;

/** What else a call with a change brings, and the secret that it is about. */
export interface ChangeCall {
  readonly rest?: Json;
  readonly secret?: { readonly id: string; readonly version: number };
}

/**
 * What was answered to the same call; null for another one. @throws PortalError `state_conflict`
 * for the same change with something else.
 */
export function repeatOf({ keyring }: FakeAccount, change: KeyringChange, { rest }: ChangeCall = {}): FakeCall | null {
  if (keyring?.lastCall.change !== canonicalText(change)) return null;
  if (rest !== undefined && canonicalText(rest) !== keyring.lastCall.rest) throw fail("state_conflict");
  return keyring.lastCall;
}

/** Checks and applies a keyring change; gives the new `state_rev`. */
export function applyChange(
  account: FakeAccount,
  userId: string,
  change: KeyringChange,
  { rest, secret }: ChangeCall = {},
): number {
  const before = account.keyring;
  if (before === null && change.state_rev !== 1) throw fail("no_keyring");
  // before the signature: at bootstrapping it is another key's
  if (change.state_rev !== (lastOf(before?.states)?.state_rev ?? 0) + 1) throw fail("state_conflict");
  const anew =
    before !== null && change.key_statement?.previous_sig === null && change.key_statement.key_epoch > before.keyEpoch;
  if (anew && account.startAnew !== "ready") throw fail("conflict");
  const isRotation =
    before !== null && !anew && (change.key_epoch !== before.keyEpoch || change.key_statement !== undefined);
  const { book = before?.book, shares = before?.shares, key_statement: statement = before?.keyStatement } = change;
  if (book === undefined || shares === undefined || statement === undefined || change.user_id !== userId)
    throw fail("keyring_change_invalid");
  // the first change comes with the first secret
  if (before === null && secret === undefined) throw fail("keyring_change_invalid");
  if (before === null || anew) checkFirst(change, before);
  else if (!hasValidSignature("put", change, fromB64u(before.keyStatement.signing_key)))
    throw fail("keyring_change_invalid");
  if ((change.stage_id === undefined) !== (change.stage_sha256 === undefined)) throw fail("keyring_change_invalid");
  if (isRotation) checkRotation(before, change, statement);
  checkHeaders(before, change);
  checkOpeners(before, change);
  if (secret !== undefined && (change.stage_id !== undefined || change.purge?.includes(secret.id) === true))
    throw fail("keyring_change_invalid");
  const staged = change.stage_id === undefined ? null : checkStage(account, change, isRotation);
  for (const id of change.purge ?? [])
    if (account.rows.get(id)?.deletedAt == null) throw fail("keyring_change_invalid");
  for (const { secret_db_id: id, versions } of change.purge_versions ?? []) {
    const former = account.rows.get(id)?.versions.length ?? 0;
    if (versions.some((version) => version >= former)) throw fail("keyring_change_invalid");
  }

  const gone = anew ? [...account.rows.keys()] : (change.purge ?? []);
  for (const id of gone) {
    account.rows.delete(id);
    account.purged = new Map(account.purged).set(id, ++account.changes);
  }
  for (const { secret_db_id: id, versions } of change.purge_versions ?? []) {
    for (const [at, version] of account.rows.get(id)?.versions.entries() ?? [])
      if (versions.includes(at + 1)) version.dropped = true;
  }
  if (anew) account.startAnew = "begun";
  if (staged !== null) switchTo(account, staged);
  if (anew || isRotation)
    for (const request of account.requests?.values() ?? [])
      if (anew || request.state === "awaiting") request.state = "revoked";
  const { slots, image_records: records } = change;
  account.keyring = {
    keyEpoch: change.key_epoch,
    states: [...(before?.states ?? []), { state_rev: change.state_rev, state: change.state }],
    book,
    shares,
    requests: change.requests ?? (anew ? null : before?.requests) ?? null,
    slots: changed(before?.slots ?? [], ({ opener_id: id }) => id, slots),
    keyStatement: statement,
    imageRecords: changed(before?.imageRecords ?? [], ({ id }) => id, records),
    lastCall: {
      change: canonicalText(change),
      rest: rest === undefined ? null : canonicalText(rest),
      version: secret?.version ?? null,
    },
  };
  return change.state_rev;
}

function changed<T>(
  before: readonly T[],
  idOf: (item: T) => string,
  { set, remove }: { readonly set: readonly T[]; readonly remove: readonly string[] } = { set: [], remove: [] },
): T[] {
  const gone = new Set([...set.map(idOf), ...remove]);
  return [...before.filter((item) => !gone.has(idOf(item))), ...set];
}

/** A statement that speaks for itself: at first, and where the account is started anew. */
function checkFirst(change: KeyringChange, before: FakeKeyring | null): void {
  const { book, shares, slots, image_records: records, key_statement: statement } = change;
  if (
    book === undefined ||
    shares === undefined ||
    slots === undefined ||
    records === undefined ||
    statement === undefined
  )
    throw fail("keyring_change_invalid");
  const key = fromB64u(statement.signing_key);
  const follows =
    change.key_epoch === (before?.keyEpoch ?? 0) + 1 &&
    statement.key_epoch === change.key_epoch &&
    statement.previous_sig === null &&
    statement.user_id === change.user_id;
  const leaves =
    before?.slots.every(({ opener_id: id }) => slots.remove.includes(id)) !== false &&
    before?.imageRecords.every(({ id }) => records.remove.includes(id)) !== false;
  const isAlone = [change.purge, change.purge_versions, change.stage_id].every(
    (one) => one === undefined || one.length === 0,
  );
  if (
    !follows ||
    !leaves ||
    !isAlone ||
    !hasValidSignature("key", statement, key) ||
    !hasValidSignature("put", change, key)
  )
    throw fail("keyring_change_invalid");
}

function checkRotation(before: FakeKeyring, change: KeyringChange, statement: Keyring["key_statement"]): void {
  const touched = [...(change.slots?.set ?? []).map(({ opener_id: id }) => id), ...(change.slots?.remove ?? [])];
  const { previous_sig: previousSig, ...unsigned } = statement;
  const isComplete =
    change.book !== undefined &&
    change.shares !== undefined &&
    (before.requests === null || change.requests !== undefined) &&
    change.stage_id !== undefined;
  const isSigned =
    previousSig !== null &&
    hasValidSignature("key", { ...unsigned, sig: previousSig }, fromB64u(before.keyStatement.signing_key)) &&
    hasValidSignature("key", statement, fromB64u(statement.signing_key));
  const follows =
    change.key_epoch === before.keyEpoch + 1 &&
    statement.key_epoch === change.key_epoch &&
    statement.user_id === change.user_id;
  const isNew =
    statement.signing_key !== before.keyStatement.signing_key && statement.recipient !== before.keyStatement.recipient;
  if (!isComplete || !isSigned || !follows || !isNew || before.slots.some(({ opener_id: id }) => !touched.includes(id)))
    throw fail("keyring_change_invalid");
}

function checkHeaders(
  before: FakeKeyring | null,
  { user_id, key_epoch, state, book, shares, requests }: KeyringChange,
): void {
  const last = lastOf(before?.states);
  requireHeader(state, "relicario-state", {
    user_id,
    key_epoch,
    previous: last === undefined ? null : stateDigest(last.state),
  });
  for (const [typ, jwe] of [
    ["relicario-book", book],
    ["relicario-shares", shares],
    ["relicario-requests", requests],
  ] as const)
    if (jwe !== undefined) requireHeader(jwe, typ, { user_id, key_epoch });
}

/** @throws PortalError `keyring_change_invalid` for the label of another row. */
export function requireLabel(
  label: string,
  { user_id, key_epoch }: Pick<KeyringChange, "user_id" | "key_epoch">,
  secret_id: string,
  version: number,
): void {
  requireHeader(label, "relicario-label", { user_id, key_epoch, secret_id, version, rev: headerOf(label)["rev"] });
}

function requireHeader(jwe: string, typ: JweType, members: Readonly<Record<string, unknown>>): void {
  const header = headerOf(jwe);
  const wanted = Object.entries({ alg: "dir", enc: "A256GCM", typ, ...members });
  if (Object.keys(header).length !== wanted.length || wanted.some(([name, value]) => header[name] !== value))
    throw fail("keyring_change_invalid");
}

function checkOpeners(
  before: FakeKeyring | null,
  { slots, image_records: records, purge = [], purge_versions: formers = [] }: KeyringChange,
): void {
  const lists = [
    [...(slots?.set ?? []).map(({ opener_id: id }) => id), ...(slots?.remove ?? [])],
    [...(records?.set ?? []).map(({ id }) => id), ...(records?.remove ?? [])],
    purge,
    formers.map(({ secret_db_id: id }) => id),
    ...formers.map(({ versions }) => versions),
  ];
  const isDouble = lists.some((list) => new Set<string | number>(list).size !== list.length);
  const stray =
    slots?.remove.some((id) => before?.slots.some((slot) => slot.opener_id === id) !== true) === true ||
    records?.remove.some((id) => before?.imageRecords.some((record) => record.id === id) !== true) === true;
  const after = changed(before?.slots ?? [], ({ opener_id: id }) => id, slots);
  const images = after.filter(({ kind }) => kind === "image").map(({ opener_id: id }) => id);
  const recorded = changed(before?.imageRecords ?? [], ({ id }) => id, records).map(({ id }) => id);
  const isPaired = images.length === recorded.length && images.every((id) => recorded.includes(id));
  if (isDouble || stray || !isPaired || after.length > maxOpeners || after.every(({ kind }) => kind === "passkey"))
    throw fail("keyring_change_invalid");
}

function checkStage(account: FakeAccount, change: KeyringChange, isRotation: boolean): readonly StagedRow[] {
  const { stage } = account;
  const rows = stagedRows(account);
  if (stage?.id !== change.stage_id) throw fail("conflict");
  const lines = rows.map(
    (row) => `${row.secret_db_id} ${String(row.version)} ${bytesToHex(sha256(canonicalBytes(row)))}\n`,
  );
  if (toB64u(sha256(utf8(lines.join("")))) !== change.stage_sha256) throw fail("conflict");
  const labelled = new Set(rows.filter(({ label }) => label !== undefined).map(({ secret_db_id: id }) => id));
  const isOld = [...(stage?.rows.values() ?? [])].some(
    ({ row, before }) =>
      !labelled.has(row.secret_db_id) ||
      !standsAt(account, row, before) ||
      (row.label !== undefined && headerOf(row.label)["key_epoch"] !== change.key_epoch),
  );
  if (isOld || (isRotation && [...account.rows.keys()].some((id) => !labelled.has(id)))) throw fail("conflict");
  return rows;
}

/** Whether what a row was sealed from is still there. */
function standsAt(account: FakeAccount, row: StagedRow, before: string): boolean {
  try {
    return placeOf(account, row) === before;
  } catch {
    return false; // it went, or is a former one now
  }
}

function switchTo(account: FakeAccount, rows: readonly StagedRow[]): void {
  for (const { secret_db_id: id, version, label, ticket, content } of rows) {
    const row = account.rows.get(id);
    const stands = row?.versions[version - 1];
    if (row === undefined || stands === undefined) throw fail("conflict");
    Object.assign(stands, {
      ...(label === undefined ? {} : { label }),
      ...(ticket === undefined ? {} : { ticket }),
      ...(content === undefined ? {} : { content }),
    });
    touch(account, row);
  }
  delete account.stage;
}
