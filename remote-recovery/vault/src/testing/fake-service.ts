import { canonicalText, hasValidSignature, fromB64u, KeyringChange, maxSmallSecretBytes, StoreSecret, type Keyring, type Slot } from "@relicario/shared/api";
import type { Http, HttpMethod, HttpOptions, HttpStream } from "@relicario/shared/contract";
import { PortalError, type ErrorCode } from "@relicario/shared/errors";
import type { z } from "zod";

import { handleStream, handleUpload, type FakeUpload } from "./fake-uploads.ts";

/** Rows, keyring and objects of one account, as the service keeps them. Tests tamper with it directly. */
export interface FakeAccount {
  keyring: {
    keyEpoch: number;
    states: { state_rev: number; state: string }[];
    book: string;
    shares: string;
    slots: Slot[];
    keyStatement: Keyring["key_statement"];
    imageRecords: { id: string; helper: string; created_at: string }[];
    lastChange: string;
  } | null;
  rows: Map<string, FakeRow>;
  changes: number;
  /** Ids that went for good, with the counter then. */
  purged?: Map<string, number>;
  /** Large contents on their way, by id. */
  uploads?: Map<string, FakeUpload>;
}

export interface FakeRow {
  favorite: boolean;
  createdAt: string;
  updatedAt: string;
  deletedAt: string | null;
  versions: { label: string; ticket: string; content: string; createdAt: string }[];
  /** The account's counter when it changed last. */
  change?: number;
}

export interface FakeService {
  readonly http: Http;
  account: FakeAccount;
  /** `METHOD path` of each call, in order, before it is answered. */
  readonly calls: string[];
  /** Bodies as sent. */
  readonly bodies: unknown[];
  /** Called before each call; throwing fails it before it reaches the service. */
  before: (call: string) => void | Promise<void>;
  /** Called after each call that succeeded; throwing loses the answer. It may replace the answer: the hostile modes. */
  answer: (call: string, answer: unknown) => unknown;
  /** A copy to go back to: `service.account = earlier`. */
  readonly snapshot: () => FakeAccount;
}

const now = "2026-11-21T10:00:00.000Z";
const pageSize = 3; // small, so that every test of the list turns pages

/**
 * The service's rules over memory, at the network's edge: compare-and-set on `state_rev`, signatures, idempotency, one
 * transaction a call. Nothing here can open anything.
 */
export function createFakeService(userId: string): FakeService {
  const service: FakeService = {
    account: { keyring: null, rows: new Map(), changes: 0 },
    calls: [],
    bodies: [],
    before: () => undefined,
    answer: (_call, answer) => answer,
    snapshot: () => structuredClone(service.account),
    http: {
      stream: async (method, path, options = {}) => {
        const call = `${method} ${path}`;
        service.calls.push(call);
        await service.before(call);
        return service.answer(call, handleStream(service.account, options)) as HttpStream;
      },
      request: async <T>(method: HttpMethod, path: string, schema: z.ZodType<T>, options: HttpOptions = {}): Promise<T> => {
        if (options.signal?.aborted === true) throw new PortalError("cancelled");
        const call = `${method} ${path}`;
        service.calls.push(call);
        await service.before(call);
        const ofUpload = await handleUpload(service.account, userId, method, path, options.body);
        if (ofUpload !== undefined) return schema.parse(service.answer(call, ofUpload));
        const body: unknown = options.body === undefined ? undefined : JSON.parse(JSON.stringify(options.body));
        if (body !== undefined) service.bodies.push(body);
        const answered = service.answer(call, JSON.parse(JSON.stringify(handle(service, userId, call, body, options.query ?? {}))));
        const parsed = schema.safeParse(answered);
        if (!parsed.success) throw new PortalError("bad_answer", { cause: parsed.error });
        return parsed.data;
      },
    },
  };
  return service;
}

function handle(service: FakeService, userId: string, call: string, body: unknown, query: NonNullable<HttpOptions["query"]>): unknown {
  const { account } = service;
  if (call === "GET /user/keyring") return presentKeyring(account, query["states_since"]);
  if (call === "PUT /user/keyring") return { state_rev: applyChange(account, userId, KeyringChange.parse(body)) };
  if (call === "GET /user/image-records") return { image_records: account.keyring?.imageRecords ?? [] };
  if (call === "GET /secrets/store") return presentPage(account, query["cursor"], query["since"]);
  if (call === "POST /secrets/store") return store(account, userId, StoreSecret.parse(body));
  if (call === "POST /secrets/store/get-secret") return presentSecret(account, body as { secret_db_id: string; version?: number });
  if (call === "PATCH /secrets/favorite") return setFavorite(account, body as { secret_db_id: string; favorite: boolean });
  if (call.startsWith("DELETE /secrets/store/")) return trash(account, call.slice("DELETE /secrets/store/".length));
  throw fail("not_found");
}

/** The last item: `.at(-1)` is typed as if it were always there. */
export function lastOf<T>(items: ArrayLike<T> | undefined): T | undefined {
  return items?.[items.length - 1];
}

function fail(code: ErrorCode): PortalError {
  return new PortalError(code);
}

function presentKeyring(account: FakeAccount, since: string | number | boolean | undefined): unknown {
  const { keyring } = account;
  const last = lastOf(keyring?.states);
  if (keyring === null || last === undefined) throw fail("no_keyring");
  return {
    key_epoch: keyring.keyEpoch,
    state_rev: last.state_rev,
    state: last.state,
    book: keyring.book,
    shares: keyring.shares,
    slots: keyring.slots,
    key_statement: keyring.keyStatement,
    ...(since === undefined ? {} : { states: keyring.states.filter((state) => state.state_rev > Number(since)) }),
  };
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
  account.keyring = {
    keyEpoch: change.key_epoch,
    states: [...(before?.states ?? []), { state_rev: change.state_rev, state: change.state }],
    book,
    shares,
    slots: slots.filter((slot) => change.slots?.remove.includes(slot.opener_id) !== true),
    keyStatement: statement,
    imageRecords: records.filter((record) => change.image_records?.remove.includes(record.id) !== true),
    lastChange: canonicalText(change),
  };
  return change.state_rev;
}

function store(account: FakeAccount, userId: string, body: StoreSecret): unknown {
  const stateRev = lastOf(account.keyring?.states)?.state_rev ?? 0;
  const row = account.rows.get(body.secret_db_id);
  if ("restore" in body) {
    if (row === undefined) throw fail("not_found");
    row.deletedAt = null;
    touch(account, row);
    return { secret_db_id: body.secret_db_id, version: row.versions.length, state_rev: stateRev };
  }
  if (account.keyring?.lastChange === canonicalText(body.keyring)) return { secret_db_id: body.secret_db_id, version: row?.versions.length ?? 0, state_rev: stateRev };
  if (body.base_version === undefined && row !== undefined) throw fail("id_taken");
  if (body.base_version !== undefined && body.base_version !== row?.versions.length) throw fail("version_conflict");
  const newRev = applyChange(account, userId, body.keyring);
  if (!("content" in body)) {
    const last = lastOf(row?.versions);
    if (row === undefined || last === undefined) throw fail("not_found");
    last.label = body.label;
    last.ticket = body.ticket ?? last.ticket;
    touch(account, row);
    return { secret_db_id: body.secret_db_id, version: row.versions.length, state_rev: newRev };
  }
  const version = { label: body.label, ticket: body.ticket, content: body.content, createdAt: now };
  const stored = row ?? { favorite: false, createdAt: now, updatedAt: now, deletedAt: null, versions: [] };
  stored.versions.push(version);
  account.rows.set(body.secret_db_id, stored);
  touch(account, stored);
  return { secret_db_id: body.secret_db_id, version: stored.versions.length, state_rev: newRev };
}

/** The account's counter moves on with every change of a row; a test that tampers with one touches it too. */
export function touch(account: FakeAccount, row: FakeRow): void {
  row.change = ++account.changes;
}

function presentRow(id: string, row: FakeRow): unknown {
  const last = lastOf(row.versions);
  return {
    secret_db_id: id,
    version: row.versions.length,
    favorite: row.favorite,
    label: last?.label,
    size: fromB64u(last?.content ?? "").length,
    created_at: row.createdAt,
    updated_at: row.updatedAt,
    ...(row.deletedAt === null ? {} : { deleted_at: row.deletedAt }),
  };
}

type Query = string | number | boolean | undefined;

function presentPage(account: FakeAccount, cursor: Query, since: Query): unknown {
  const ids = [...account.rows].filter(([, row]) => since === undefined || (row.change ?? 0) > Number(since)).map(([id]) => id).sort();
  const left = cursor === undefined ? ids : ids.filter((id) => id > String(cursor));
  const page = left.slice(0, pageSize);
  return {
    secrets: page.flatMap((id) => {
      const row = account.rows.get(id);
      return row === undefined ? [] : [presentRow(id, row)];
    }),
    total: account.rows.size,
    next_cursor: left.length > pageSize ? lastOf(page) : null,
    state_rev: lastOf(account.keyring?.states)?.state_rev ?? 0,
    changes: account.changes,
    ...(since === undefined ? {} : { purged: [...(account.purged ?? [])].filter(([, change]) => change > Number(since)).map(([id]) => id) }),
  };
}

function presentSecret(account: FakeAccount, { secret_db_id: id, version }: { secret_db_id: string; version?: number }): unknown {
  const row = account.rows.get(id);
  const number = version ?? row?.versions.length ?? 0;
  const wanted = row?.versions[number - 1];
  if (row === undefined || wanted === undefined) throw fail("not_found");
  return {
    version: number,
    ticket: wanted.ticket,
    content: isLargeContent(wanted.content) ? null : wanted.content,
    label: lastOf(row.versions)?.label,
    versions: row.versions.map((version, index) => ({ version: index + 1, size: fromB64u(version.content).length, created_at: version.createdAt })),
  };
}

/** Streamed, not answered in a body. */
function isLargeContent(content: string): boolean {
  return fromB64u(content).length > maxSmallSecretBytes;
}

function setFavorite(account: FakeAccount, { secret_db_id: id, favorite }: { secret_db_id: string; favorite: boolean }): unknown {
  const row = account.rows.get(id);
  if (row === undefined) throw fail("not_found");
  row.favorite = favorite;
  touch(account, row);
  return presentRow(id, row);
}

function trash(account: FakeAccount, id: string): unknown {
  const row = account.rows.get(id);
  if (row === undefined) throw fail("not_found");
  row.deletedAt ??= now;
  touch(account, row);
  return presentRow(id, row);
}
