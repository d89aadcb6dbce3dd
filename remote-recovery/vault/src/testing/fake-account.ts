import { maxFormerVersions, type Keyring, type RequestList, type Slot, type StagedRow } from "@relicario/shared/api";
import { PortalError, type ErrorCode } from "@relicario/shared/errors";

import type { Bytes } from "../seal/bytes.ts";

/**
 * Rows, keyring and objects of one account, as the service keeps them. Tests tamper with it
 * directly.
 */
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
  /** Ids that went for good, with the counter then. */
  purged?: Map<string, number>;
  /** How many former versions a secret may have; as the service's unless a test sets it. */
  formerVersions?: number;
  /** Large contents on their way, by id. */
  uploads?: Map<string, FakeUpload>;
  /** Where starting the account anew stands; not asked for unless a test says so. */
  accountReset?: "ready" | "begun";
  /**
   * Rows sealed anew that show nowhere yet, by id and version, each with the label and ticket that
   * it was sealed from.
   */
  stage?: { readonly id: string; readonly rows: Map<string, { row: StagedRow; readonly source: string }> };
  /** What others were asked for, by id. */
  requests?: Map<string, FakeRequest>;
}

/** A call with a keyring change, as it is compared with the same one again. */
export interface FakeCall {
  readonly change: string;
  /** What else was in it; null for a change alone. */
  readonly rest: string | null;
  readonly version: number | null;
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
  provided: { ticket: string; content: Bytes; at: string; answerId: string; call: string } | null;
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

export function refusal(code: ErrorCode): PortalError {
  return new PortalError(code);
}

/**
 * What a row is sealed from: the ticket of its version, and the label of the present one. @throws
 * PortalError `not_found`, `version_conflict`, `content_gone`
 */
export function sealedSourceOf(account: FakeAccount, { secret_db_id: id, version, label, ticket }: StagedRow): string {
  const versions = account.rows.get(id)?.versions ?? [];
  const stored = versions[version - 1];
  if (stored === undefined) throw refusal("not_found");
  if ((version === versions.length) !== (label !== undefined)) throw refusal("version_conflict");
  if (ticket !== undefined && stored.dropped === true) throw refusal("content_gone");
  return `${label === undefined ? "" : stored.label} ${stored.ticket}`;
}

/** What a lying service may do with the first of the staged rows. */
export function alterStagedRow({ stage }: FakeAccount): void {
  const [key, stagedRow] = [...(stage?.rows ?? [])][0] ?? [];
  if (key !== undefined && stagedRow !== undefined)
    stage?.rows.set(key, { ...stagedRow, row: { ...stagedRow.row, ticket: "AAAA" } });
}

/** The staged rows in the order of their digests. */
export function stagedRows({ stage }: FakeAccount): StagedRow[] {
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
 * A row that gets a version: `id_taken` where it is a new one, `not_found` and `version_conflict`
 * where it is not.
 */
export function requireNoConflict(account: FakeAccount, id: string, baseVersion: number | null): void {
  const versions = account.rows.get(id)?.versions.length;
  if (baseVersion === null && (versions !== undefined || account.purged?.has(id) === true)) throw refusal("id_taken");
  if (baseVersion !== null && versions === undefined) throw refusal("not_found");
  if (baseVersion !== null && versions !== baseVersion) throw refusal("version_conflict");
}

/** Out of the trash, too. Gives its number. */
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
  account.rows.set(id, row);
  touch(account, row);
  return row.versions.length;
}

/** No version here is old enough to give way to one more. */
export function requireVersionSpace(
  { formerVersions = maxFormerVersions }: FakeAccount,
  row: FakeRow | undefined,
): void {
  if ((row?.versions ?? []).filter(({ dropped }) => dropped !== true).length > formerVersions)
    throw refusal("too_many_versions");
}

/**
 * The account's counter moves on with every change of a row; a test that tampers with one touches
 * it too.
 */
export function touch(account: FakeAccount, row: FakeRow): void {
  row.change = ++account.changes;
}
