import { AnswerDeviceLink, canonicalBytes, canonicalText, FillDeviceLink, fromB64u, KeyringChange, maxSmallSecretBytes, maxStatesPage, StageRows, StoreSecret, StoreSecrets, toB64u, type StagedRow, type VersionLine } from "@relicario/shared/api";
import type { Http, HttpMethod, HttpOptions, HttpStream } from "@relicario/shared/contract";
import { PortalError } from "@relicario/shared/errors";
import type { z } from "zod";

import { sha256 } from "../seal/bytes.ts";
import { applyChange, fail, lastOf, placeOf, refuseTooMany, stagedRows, touch, type FakeAccount, type FakeRow } from "./fake-account.ts";
import { handleAnswerStream, handleRequests } from "./fake-requests.ts";
import { endSharesOf, handleSharing, streamShared, type FakePerson, type FakeSharing } from "./fake-shares.ts";
import { handleStream, handleUpload } from "./fake-uploads.ts";

export interface FakeService {
  /** What people share with each other; null of a service that knows one account alone. */
  sharing: { readonly between: FakeSharing; readonly me: FakePerson | null } | null;
  readonly http: Http;
  /** Mailboxes between devices, by id. They know no sessions: those are the real service's. */
  readonly deviceLinks: Map<string, { message: string; answer: string | null }>;
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
    sharing: null,
    deviceLinks: new Map(),
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
        const ofAnswer = handleAnswerStream(service.account, path, options);
        if (ofAnswer !== undefined) return service.answer(call, ofAnswer) as HttpStream;
        return service.answer(call, service.sharing !== null && path === "/share/content" ? streamShared(service.sharing.between, options) : handleStream(service.account, options)) as HttpStream;
      },
      request: async <T>(method: HttpMethod, path: string, schema: z.ZodType<T>, options: HttpOptions = {}): Promise<T> => {
        if (options.signal?.aborted === true) throw new PortalError("cancelled");
        const call = `${method} ${path}`;
        service.calls.push(call);
        await service.before(call);
        const ofUpload = await handleUpload(service.account, userId, method, path, options.body);
        if (ofUpload !== undefined) return schema.parse(service.answer(call, ofUpload));
        const ofRequest = await handleRequests(service.account, userId, method, path, options);
        if (ofRequest !== undefined) return schema.parse(service.answer(call, ofRequest));
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
  if (call === "GET /user/keyring") return presentKeyring(account, query);
  if (call === "PUT /user/keyring") return { state_rev: applyChange(account, userId, KeyringChange.parse(body)) };
  if (call === "POST /user/keyring/stage") return stage(account, StageRows.parse(body));
  if (call.startsWith("GET /user/keyring/stage/")) return presentStage(account, call.slice("GET /user/keyring/stage/".length), query["cursor"]);
  const ofSharing = service.sharing === null ? undefined : handleSharing(service.sharing.between, service.sharing.me, call, body, query);
  if (ofSharing !== undefined) return ofSharing;
  const [, method, linkId, ofAnswer] = /^(GET|PUT) \/device-links\/([^/]+)(\/answer)?$/.exec(call) ?? [];
  if (linkId !== undefined) return handleDeviceLink(service.deviceLinks, linkId, method === "PUT" ? body : null, ofAnswer !== undefined);
  if (call === "GET /user/image-records") return { image_records: account.keyring?.imageRecords ?? [] };
  if (call === "GET /secrets/store") return presentPage(account, query["cursor"], query["since"]);
  if (call === "POST /secrets/store") return store(account, userId, StoreSecret.parse(body));
  if (call === "POST /secrets/store/batch") return storeBatch(account, userId, StoreSecrets.parse(body));
  const [, ofVersions] = /^GET \/secrets\/store\/([^/]+)\/versions$/.exec(call) ?? [];
  if (ofVersions !== undefined) return { secret_db_id: ofVersions, versions: linesOf(account.rows.get(ofVersions)) };
  if (call === "POST /secrets/store/get-secret") return presentSecret(account, body as { secret_db_id: string; version?: number });
  if (call === "PATCH /secrets/favorite") return setFavorite(account, body as { secret_db_id: string; favorite: boolean });
  if (call.startsWith("DELETE /secrets/store/") && service.sharing !== null) endSharesOf(service.sharing.between, call.slice("DELETE /secrets/store/".length));
  if (call.startsWith("DELETE /secrets/store/")) return trash(account, call.slice("DELETE /secrets/store/".length));
  throw fail("not_found");
}

function handleDeviceLink(links: FakeService["deviceLinks"], id: string, body: unknown, ofAnswer: boolean): unknown {
  const link = links.get(id);
  const expiry = { expires_at: now };
  if (body !== null && !ofAnswer) {
    const { message } = FillDeviceLink.parse(body);
    if (link !== undefined && link.message !== message) throw fail("id_taken");
    links.set(id, { answer: null, ...link, message });
    return expiry;
  }
  if (link === undefined) throw fail("not_found");
  if (body === null) return ofAnswer ? { answer: link.answer, ...expiry } : { message: link.message, ...expiry };
  const { answer } = AnswerDeviceLink.parse(body);
  if (link.answer !== null && link.answer !== answer) throw fail("conflict");
  link.answer = answer;
  return expiry;
}

function presentKeyring(account: FakeAccount, { states_since: since, or_none: orNone }: NonNullable<HttpOptions["query"]>): unknown {
  const { keyring } = account;
  const last = lastOf(keyring?.states);
  if (keyring === null || last === undefined) {
    if (orNone === true) return null;
    throw fail("no_keyring");
  }
  return {
    key_epoch: keyring.keyEpoch,
    state_rev: last.state_rev,
    state: last.state,
    book: keyring.book,
    shares: keyring.shares,
    requests: keyring.requests,
    slots: keyring.slots,
    key_statement: keyring.keyStatement,
    ...(since === undefined ? {} : { states: keyring.states.filter((state) => state.state_rev > Number(since)).slice(0, maxStatesPage) }),
  };
}

/** One stage an account; the same rows come again. */
function stage(account: FakeAccount, { stage_id: id, rows }: StageRows): unknown {
  if (account.keyring === null) throw fail("no_keyring");
  const sealed = rows.map((row) => ({ row, before: placeOf(account, row) }));
  if (account.stage?.id !== id) account.stage = { id, rows: new Map() };
  for (const one of sealed) account.stage.rows.set(`${one.row.secret_db_id} ${String(one.row.version)}`, one);
  return { stage_id: id, rows: account.stage.rows.size };
}

function presentStage(account: FakeAccount, id: string, cursor: Query): unknown {
  if (account.stage?.id !== id) throw fail("not_found");
  const left = stagedRows(account).filter(({ secret_db_id: secretId }) => cursor === undefined || secretId > String(cursor));
  const ids = [...new Set(left.map(({ secret_db_id: secretId }) => secretId))].slice(0, pageSize);
  const rows = left.filter(({ secret_db_id: secretId }) => ids.includes(secretId));
  const digest = (row: StagedRow): string => toB64u(sha256(canonicalBytes(row)));
  return {
    stage_id: id,
    rows: rows.map((row) => ({ secret_db_id: row.secret_db_id, version: row.version, row_sha256: digest(row) })),
    next_cursor: ids.length === pageSize ? (lastOf(ids) ?? null) : null,
  };
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
  if ("content" in body) refuseTooMany(account, row);
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

function storeBatch(account: FakeAccount, userId: string, { secrets, keyring }: StoreSecrets): unknown {
  if (account.keyring?.lastChange === canonicalText(keyring)) return { state_rev: lastOf(account.keyring.states)?.state_rev };
  if (secrets.some(({ secret_db_id: id }) => account.rows.has(id))) throw fail("id_taken");
  const stateRev = applyChange(account, userId, keyring);
  for (const { secret_db_id: id, label, ticket, content } of secrets) {
    const row: FakeRow = { favorite: false, createdAt: now, updatedAt: now, deletedAt: null, versions: [{ label, ticket, content, createdAt: now }] };
    account.rows.set(id, row);
    touch(account, row);
  }
  return { state_rev: stateRev };
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
  if (wanted.dropped === true) throw fail("content_gone");
  return {
    version: number,
    ticket: wanted.ticket,
    content: isLargeContent(wanted.content) ? null : wanted.content,
    label: lastOf(row.versions)?.label,
    versions: linesOf(row),
  };
}

/** Newest first. */
function linesOf(row: FakeRow | undefined): VersionLine[] {
  if (row === undefined) throw fail("not_found");
  const line = ({ ticket, content, createdAt, dropped = false }: FakeRow["versions"][number], index: number): VersionLine => ({
    version: index + 1,
    ticket_sha256: toB64u(sha256(fromB64u(ticket))),
    size: fromB64u(content).length,
    created_at: createdAt,
    dropped,
  });
  return row.versions.map(line).toReversed();
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
