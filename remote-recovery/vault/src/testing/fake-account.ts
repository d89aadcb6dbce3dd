import { canonicalText, fromB64u, hasValidSignature, maxFormerVersions, type Keyring, type KeyringChange, type RequestList, type Slot } from "@relicario/shared/api";
import { PortalError, type ErrorCode } from "@relicario/shared/errors";

import type { Bytes } from "../seal/bytes.ts";

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
  const signingKey = before?.keyStatement.signing_key ?? change.key_statement?.signing_key;
  if (signingKey === undefined || change.user_id !== userId) throw fail("keyring_change_invalid");
  if (change.state_rev !== (lastOf(before?.states)?.state_rev ?? 0) + 1) throw fail("state_conflict"); // before the signature: at bootstrapping it is another key's
  if (!hasValidSignature("put", change, fromB64u(signingKey))) throw fail("keyring_change_invalid");
  const { book = before?.book, shares = before?.shares, key_statement: statement = before?.keyStatement } = change;
  if (book === undefined || shares === undefined || statement === undefined) throw fail("keyring_change_invalid");
  if (before === null && !hasValidSignature("key", statement, fromB64u(signingKey))) throw fail("keyring_change_invalid");
  const slots = [...(before?.slots ?? []).filter((slot) => !change.slots?.set.some((one) => one.opener_id === slot.opener_id)), ...(change.slots?.set ?? [])];
  const records = [...(before?.imageRecords ?? []), ...(change.image_records?.set ?? [])];
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
  account.keyring = {
    keyEpoch: change.key_epoch,
    states: [...(before?.states ?? []), { state_rev: change.state_rev, state: change.state }],
    book,
    shares,
    requests: change.requests ?? before?.requests ?? null,
    slots: slots.filter((slot) => change.slots?.remove.includes(slot.opener_id) !== true),
    keyStatement: statement,
    imageRecords: records.filter((record) => change.image_records?.remove.includes(record.id) !== true),
    lastChange: canonicalText(change),
  };
  return change.state_rev;
}

/** No version here is old enough to give way to one more. */
export function refuseTooMany({ formerVersions = maxFormerVersions }: FakeAccount, row: FakeRow | undefined): void {
  if ((row?.versions ?? []).filter(({ dropped }) => dropped !== true).length > formerVersions) throw fail("too_many_versions");
}

/** The account's counter moves on with every change of a row; a test that tampers with one touches it too. */
export function touch(account: FakeAccount, row: FakeRow): void {
  row.change = ++account.changes;
}
