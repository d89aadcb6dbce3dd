import { bytesToHex } from "@noble/hashes/utils.js";
import { canonicalBytes, canonicalText, fromB64u, hasValidSignature, maxFormerVersions, toB64u, type Keyring, type KeyringChange, type RequestList, type Slot, type StagedRow } from "@relicario/shared/api";
import { PortalError, type ErrorCode } from "@relicario/shared/errors";

import { sha256, utf8, type Bytes } from "../seal/bytes.ts";

/** Rows, keyring and objects of one account, as the service keeps them. Tests tamper with it directly. */
export interface FakeAccount {
  keyring: {
    keyEpoch: number;
    states: { state_rev: number; state: string }[];
    book: string;
    shares: string;
    requests: string | null;
    slots: Slot[];
    keyStatement: Keyring["key_statement"];
    imageRecords: { id: string; helper: string; created_at: string }[];
    lastChange: string;
  } | null;
  rows: Map<string, FakeRow>;
  changes: number;
  /** Ids that went for good, with the counter then. */
  purged?: Map<string, number>;
  /** How many former versions a secret may have; as the service's unless a test sets it. */
  formerVersions?: number;
  /** Large contents on their way, by id. */
  uploads?: Map<string, FakeUpload>;
  /** Where starting the account anew stands; not asked for unless a test says so. */
  startAnew?: "ready" | "begun";
  /** Rows sealed anew that show nowhere yet, by id and version, each with the label and ticket that it was sealed from. */
  stage?: { readonly id: string; readonly rows: Map<string, { row: StagedRow; readonly before: string }> };
  /** What others were asked for, by id. */
  requests?: Map<string, FakeRequest>;
}

export interface FakeRow {
  favorite: boolean;
  createdAt: string;
  updatedAt: string;
  deletedAt: string | null;
  versions: { label: string; ticket: string; content: string; createdAt: string; dropped?: boolean }[];
  /** The account's counter when it changed last. */
  change?: number;
}

/** A large content on its way. */
export interface FakeUpload {
  readonly secretId: string;
  readonly baseVersion: number | null;
  readonly size: number;
  /** By number, from 1. */
  readonly parts: Map<number, Bytes>;
  published: { readonly version: number; readonly stateRev: number; readonly body: string } | null;
}

/** A request as the service keeps it. Tests tamper with it directly. */
export interface FakeRequest {
  document: string;
  linkAuthSha256: string;
  createdAt: string;
  expiresAt: string;
  maxSize: number;
  state: RequestList["requests"][number]["state"];
  provided: { ticket: string; content: Bytes; at: string; call: string } | null;
  collectedAt: string | null;
  readonly answers: Map<string, FakeAnswer>;
}

export interface FakeAnswer {
  readonly token: string;
  readonly size: number;
  /** By number, from 1. */
  readonly parts: Map<number, Bytes>;
}

/** The last item: `.at(-1)` is typed as if it were always there. */
export function lastOf<T>(items: ArrayLike<T> | undefined): T | undefined {
  return items?.[items.length - 1];
}

export function fail(code: ErrorCode): PortalError {
  return new PortalError(code);
}

/** Checks and applies a keyring change; gives the new `state_rev`. The last one once more answers as the first time. */
export function applyChange(account: FakeAccount, userId: string, change: KeyringChange): number {
  const before = account.keyring;
  if (before?.lastChange === canonicalText(change)) return change.state_rev;
  const anew = before !== null && change.key_statement?.previous_sig === null && change.key_epoch === before.keyEpoch + 1;
  if (anew && account.startAnew !== "ready") throw fail("conflict");
  const signingKey = (anew ? null : before?.keyStatement.signing_key) ?? change.key_statement?.signing_key;
  if (signingKey === undefined || change.user_id !== userId) throw fail("keyring_change_invalid");
  if (change.state_rev !== (lastOf(before?.states)?.state_rev ?? 0) + 1) throw fail("state_conflict"); // before the signature: at bootstrapping it is another key's
  if (!hasValidSignature("put", change, fromB64u(signingKey))) throw fail("keyring_change_invalid");
  const { book = before?.book, shares = before?.shares, key_statement: statement = before?.keyStatement } = change;
  if (book === undefined || shares === undefined || statement === undefined) throw fail("keyring_change_invalid");
  if ((before === null || anew) && !hasValidSignature("key", statement, fromB64u(signingKey))) throw fail("keyring_change_invalid");
  const isRotation = before !== null && !anew && change.key_epoch !== before.keyEpoch;
  if (isRotation) checkRotation(before, change, statement);
  const staged = change.stage_id === undefined ? null : checkStage(account, change, isRotation);
  const slots = [...(before?.slots ?? []).filter((slot) => !change.slots?.set.some((one) => one.opener_id === slot.opener_id)), ...(change.slots?.set ?? [])];
  const records = [...(before?.imageRecords ?? []), ...(change.image_records?.set ?? [])];
  if (anew) {
    const ids = [...account.rows.keys()];
    account.rows.clear();
    account.purged = new Map([...(account.purged ?? []), ...ids.map((id): [string, number] => [id, ++account.changes])]);
    account.startAnew = "begun";
  }
  for (const id of change.purge ?? []) if (account.rows.get(id)?.deletedAt == null) throw fail("keyring_change_invalid");
  for (const id of change.purge ?? []) {
    account.rows.delete(id);
    account.purged = new Map(account.purged).set(id, ++account.changes);
  }
  for (const { secret_db_id: id, versions } of change.purge_versions ?? []) {
    const former = account.rows.get(id)?.versions.slice(0, -1);
    for (const number of versions) {
      const version = former?.[number - 1];
      if (version === undefined) throw fail("keyring_change_invalid");
      version.dropped = true;
    }
  }
  if (staged !== null) switchTo(account, staged);
  if (isRotation) for (const request of account.requests?.values() ?? []) if (request.state === "awaiting") request.state = "revoked";
  account.keyring = {
    keyEpoch: change.key_epoch,
    states: [...(before?.states ?? []), { state_rev: change.state_rev, state: change.state }],
    book,
    shares,
    requests: change.requests ?? (anew ? null : before?.requests) ?? null,
    slots: slots.filter((slot) => change.slots?.remove.includes(slot.opener_id) !== true),
    keyStatement: statement,
    imageRecords: records.filter((record) => change.image_records?.remove.includes(record.id) !== true),
    lastChange: canonicalText(change),
  };
  return change.state_rev;
}

function checkRotation(before: NonNullable<FakeAccount["keyring"]>, change: KeyringChange, statement: Keyring["key_statement"]): void {
  const touched = [...(change.slots?.set ?? []).map(({ opener_id: id }) => id), ...(change.slots?.remove ?? [])];
  const { previous_sig: previousSig, ...unsigned } = statement;
  const isComplete = change.book !== undefined && change.shares !== undefined && (before.requests === null || change.requests !== undefined) && change.stage_id !== undefined;
  const isSigned = previousSig !== null && hasValidSignature("key", { ...unsigned, sig: previousSig }, fromB64u(before.keyStatement.signing_key)) && hasValidSignature("key", statement, fromB64u(statement.signing_key));
  const follows = change.key_epoch === before.keyEpoch + 1 && statement.key_epoch === change.key_epoch && statement.signing_key !== before.keyStatement.signing_key;
  if (!isComplete || !isSigned || !follows || before.slots.some(({ opener_id: id }) => !touched.includes(id))) throw fail("keyring_change_invalid");
}

/** What a row is sealed from: the ticket of its version, and the label of the present one. @throws PortalError `not_found`, `version_conflict`, `content_gone`. */
export function placeOf(account: FakeAccount, { secret_db_id: id, version, label, ticket }: StagedRow): string {
  const versions = account.rows.get(id)?.versions ?? [];
  const stands = versions[version - 1];
  if (stands === undefined) throw fail("not_found");
  if ((version === versions.length) !== (label !== undefined)) throw fail("version_conflict");
  if (ticket !== undefined && stands.dropped === true) throw fail("content_gone");
  return `${label === undefined ? "" : stands.label} ${stands.ticket}`;
}

/** What a lying service may do with the first of the staged rows. */
export function alterStagedRow({ stage }: FakeAccount): void {
  const [key, one] = [...(stage?.rows ?? [])][0] ?? [];
  if (key !== undefined && one !== undefined) stage?.rows.set(key, { ...one, row: { ...one.row, ticket: "AAAA" } });
}

/** The staged rows in the order of their digests. */
export function stagedRows({ stage }: FakeAccount): StagedRow[] {
  const rows = [...(stage?.rows.values() ?? [])].map(({ row }) => row);
  return rows.sort((left, right) => (left.secret_db_id === right.secret_db_id ? left.version - right.version : left.secret_db_id < right.secret_db_id ? -1 : 1));
}

function checkStage(account: FakeAccount, change: KeyringChange, isRotation: boolean): readonly StagedRow[] {
  const { stage } = account;
  const rows = stagedRows(account);
  if (stage?.id !== change.stage_id) throw fail("conflict");
  const lines = rows.map((row) => `${row.secret_db_id} ${String(row.version)} ${bytesToHex(sha256(canonicalBytes(row)))}\n`);
  if (toB64u(sha256(utf8(lines.join("")))) !== change.stage_sha256) throw fail("conflict");
  const labelled = new Set(rows.filter(({ label }) => label !== undefined).map(({ secret_db_id: id }) => id));
  const isOld = [...(stage?.rows.values() ?? [])].some(({ row, before }) => !labelled.has(row.secret_db_id) || !account.rows.has(row.secret_db_id) || placeOf(account, row) !== before);
  if (isOld || (isRotation && [...account.rows.keys()].some((id) => !labelled.has(id)))) throw fail("conflict");
  return rows;
}

function switchTo(account: FakeAccount, rows: readonly StagedRow[]): void {
  for (const { secret_db_id: id, version, label, ticket, content } of rows) {
    const row = account.rows.get(id);
    const stands = row?.versions[version - 1];
    if (row === undefined || stands === undefined) throw fail("conflict");
    Object.assign(stands, { ...(label === undefined ? {} : { label }), ...(ticket === undefined ? {} : { ticket }), ...(content === undefined ? {} : { content }) });
    touch(account, row);
  }
  delete account.stage;
}

/** No version here is old enough to give way to one more. */
export function refuseTooMany({ formerVersions = maxFormerVersions }: FakeAccount, row: FakeRow | undefined): void {
  if ((row?.versions ?? []).filter(({ dropped }) => dropped !== true).length > formerVersions) throw fail("too_many_versions");
}

/** The account's counter moves on with every change of a row; a test that tampers with one touches it too. */
export function touch(account: FakeAccount, row: FakeRow): void {
  row.change = ++account.changes;
}
