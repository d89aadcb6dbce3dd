import { maxFormerVersions, type Keyring, type RequestList, type Slot, type StagedRow } from "@relicario/shared/api";
import { PortalError, type ErrorCode } from "@relicario/shared/errors";

import type { Bytes } from "../seal/bytes.ts";

/** Tests tamper with it directly. */
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
    lastCall: FakeCall;
  } | null;
  rows: Map<string, FakeRow>;
  changes: number;
  /** Purged ids, with the change counter at the time. */
  purged?: Map<string, number>;
  /** Maximum for one secret. Default: the service's limit. */
  formerVersionLimit?: number;
  /** By id */
  uploads?: Map<string, FakeUpload>;
  /** State of the account reset; absent until a test sets it. */
  accountReset?: "ready" | "begun";
  /** Staged rows by id and version, each with the label and ticket that it was sealed from. */
  stage?: { readonly id: string; readonly rows: Map<string, { row: StagedRow; readonly source: string }> };
  /** By id */
  requests?: Map<string, FakeRequest>;
}

/** Stored to recognise a repeated call. */
export interface FakeCall {
  readonly change: string;
  /** The rest of the call's body; null for a change alone. */
  readonly rest: string | null;
  readonly version: number | null;
}

export interface FakeRow {
  favorite: boolean;
  createdAt: string;
  updatedAt: string;
  deletedAt: string | null;
  trashConfirmedAt?: string;
  versions: { label: string; ticket: string; content: string; createdAt: string; dropped?: boolean }[];
  change?: number;
}

export interface FakeUpload {
  readonly secretId: string;
  readonly baseVersion: number | null;
  readonly size: number;
  /** By number, from 1 */
  readonly parts: Map<number, Bytes>;
  published: { readonly version: number; readonly stateRev: number; readonly body: string } | null;
}

/** Tests tamper with it directly. */
export interface FakeRequest {
  document: string;
  linkAuthSha256: string;
  createdAt: string;
  expiresAt: string;
  maxSize: number;
  state: RequestList["requests"][number]["state"];
  provided: { ticket: string; content: Bytes; at: string; answerId: string; call: string } | null;
  collectedAt: string | null;
  readonly answers: Map<string, FakeAnswer>;
}

export interface FakeAnswer {
  readonly token: string;
  readonly size: number;
  /** By number, from 1 */
  readonly parts: Map<number, Bytes>;
}

export function lastOf<T>(items: ArrayLike<T> | undefined): T | undefined {
  return items?.[items.length - 1];
}

export function refusal(code: ErrorCode): PortalError {
  return new PortalError(code);
}

/**
 * Returns the source of a staged row: the ticket of its version, and the label of the current one.
 *
 * @throws PortalError `not_found`, `version_conflict`, `content_gone`
 */
export function readSealedSource(
  account: FakeAccount,
  { secret_db_id: id, version, label, ticket }: StagedRow,
): string {
  const versions = account.rows.get(id)?.versions ?? [];
  const storedVersion = versions[version - 1];
  if (storedVersion === undefined) throw refusal("not_found");
  if ((version === versions.length) !== (label !== undefined)) throw refusal("version_conflict");
  if (ticket !== undefined && storedVersion.dropped === true) throw refusal("content_gone");
  return `${label === undefined ? "" : storedVersion.label} ${storedVersion.ticket}`;
}

/** Alters the first staged row, as a dishonest service may. */
export function alterStagedRow({ stage }: FakeAccount): void {
  const [key, stagedRow] = [...(stage?.rows ?? [])][0] ?? [];
  if (key !== undefined && stagedRow !== undefined)
    stage?.rows.set(key, { ...stagedRow, row: { ...stagedRow.row, ticket: "AAAA" } });
}

/** Lists staged rows in the order of hashing: by id, then version. */
export function listStagedRows({ stage }: FakeAccount): StagedRow[] {
  const rows = [...(stage?.rows.values() ?? [])].map(({ row }) => row);
  return rows.sort((left, right) =>
    left.secret_db_id === right.secret_db_id
      ? left.version - right.version
      : left.secret_db_id < right.secret_db_id
        ? -1
        : 1,
  );
}

/**
 * @throws PortalError `id_taken` for a new row; `not_found` and `version_conflict` for a next
 *   version
 */
export function requireNoConflict(account: FakeAccount, id: string, baseVersion: number | null): void {
  const versions = account.rows.get(id)?.versions.length;
  if (baseVersion === null && (versions !== undefined || account.purged?.has(id) === true)) throw refusal("id_taken");
  if (baseVersion !== null && versions === undefined) throw refusal("not_found");
  if (baseVersion !== null && versions !== baseVersion) throw refusal("version_conflict");
}

/** Adds a version, also to a row in the trash, which it restores. Returns the version's number. */
export function addVersion(account: FakeAccount, id: string, version: FakeRow["versions"][number]): number {
  const row = account.rows.get(id) ?? {
    favorite: false,
    createdAt: version.createdAt,
    updatedAt: version.createdAt,
    deletedAt: null,
    versions: [],
  };
  row.versions.push(version);
  row.deletedAt = null;
  delete row.trashConfirmedAt;
  account.rows.set(id, row);
  touch(account, row);
  return row.versions.length;
}

/** @throws PortalError `too_many_versions`, because no version here is old enough to be removed */
export function requireVersionSpace(
  { formerVersionLimit = maxFormerVersions }: FakeAccount,
  row: FakeRow | undefined,
): void {
  if ((row?.versions ?? []).filter(({ dropped }) => dropped !== true).length > formerVersionLimit)
    throw refusal("too_many_versions");
}

/** Increments the change counter. */
export function touch(account: FakeAccount, row: FakeRow): void {
  row.change = ++account.changes;
}
