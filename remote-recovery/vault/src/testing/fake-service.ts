import {
  AnswerDeviceLinkBody,
  encodeCanonical,
  deviceLinkLifetimeMinutes,
  FillDeviceLinkBody,
  fromBase64url,
  GetSecretBody,
  KeyringChange,
  maxSmallSealedBytes,
  maxStatesPageSize,
  SetFavoriteBody,
  StageRowsBody,
  StoreSecretBody,
  StoreSecretsBody,
  toBase64url,
  type SecretVersions,
  type StagedRow,
  type VersionRecord,
} from "@relicario/shared/api";
import type { HttpClient, HttpMethod, HttpRequestOptions, StreamedResponse } from "@relicario/shared/contract";
import { PortalError } from "@relicario/shared/errors";
import { z } from "zod";

import { sha256 } from "../seal/bytes.ts";
import { parseUnverifiedHeader } from "../seal/document.ts";
import {
  addVersion,
  refusal,
  lastOf,
  readSealedSource,
  requireNoConflict,
  requireVersionSpace,
  listStagedRows,
  touch,
  type FakeAccount,
  type FakeRow,
} from "./fake-account.ts";
import { applyChange, findRepeatedCall, requireLabel } from "./fake-change.ts";
import { handleAnswers, handleRequests } from "./fake-requests.ts";
import { endSharesOfSecrets, handleSharing, type FakePerson, type FakeSharing } from "./fake-shares.ts";
import { openStream } from "./fake-streams.ts";
import { handleUpload } from "./fake-uploads.ts";

export interface FakeService {
  /** Shares between people; null for a service with one account. */
  sharing: { readonly state: FakeSharing; readonly me: FakePerson | null } | null;
  /** Calls of the first sign-in. */
  readonly http: HttpClient;
  /** Device links distinguish sign-ins. */
  readonly httpFor: (signIn: string) => HttpClient;
  /** By id */
  readonly deviceLinks: Map<string, FakeDeviceLink>;
  account: FakeAccount;
  /** Milliseconds since 1970 */
  now: () => number;
  /** `METHOD path` of each call, in order. */
  readonly calls: string[];
  /** Bodies as sent. */
  readonly bodies: unknown[];
  /** Called before each call; an exception loses the request. */
  beforeCall: (call: string) => void | Promise<void>;
  /**
   * May replace the response of a successful call, as a hostile service would; an exception loses
   * the response.
   */
  transformResponse: (call: string, response: unknown) => unknown;
  /** Creates a copy that `service.account = snapshot` restores. */
  readonly snapshot: () => FakeAccount;
}

interface FakeDeviceLink {
  message: string;
  answer: string | null;
  readonly filledBy: string;
  /** Milliseconds since 1970 */
  readonly expiresAt: number;
}

interface Call {
  readonly signIn: string;
  readonly method: HttpMethod;
  readonly path: string;
  readonly body: unknown;
  readonly options: HttpRequestOptions;
}

const fixedTime = "2026-11-21T10:00:00.000Z";
const pageSize = 3; // small, so that tests of the list need several pages

/**
 * Applies the service's rules in memory, behind the HTTP client: compare-and-set on `state_rev`,
 * signatures, idempotency, one transaction for each call. Has no keys. Tests in `contracts/`
 * compare its responses with those of the real service.
 */
export function createFakeService(userId: string): FakeService {
  const httpFor = (signIn: string): HttpClient => ({
    stream: async (method, path, options = {}) => {
      const call = `${method} ${path}`;
      service.calls.push(call);
      await service.beforeCall(call);
      requireSession(service, call);
      return service.transformResponse(
        call,
        openStream(service.account, service.sharing, path, options, service.now()),
      ) as StreamedResponse;
    },
    request: async <T>(
      method: HttpMethod,
      path: string,
      schema: z.ZodType<T>,
      options: HttpRequestOptions = {},
    ): Promise<T> => {
      if (options.signal?.aborted === true) throw new PortalError("cancelled");
      const call = `${method} ${path}`;
      service.calls.push(call);
      await service.beforeCall(call);
      const isForm = options.body instanceof FormData;
      const body: unknown =
        isForm || options.body === undefined ? options.body : JSON.parse(JSON.stringify(options.body));
      if (!isForm && body !== undefined) service.bodies.push(body);
      const response: unknown = await handle(service, userId, { signIn, method, path, body, options }).catch(toRefusal);
      const parsed = schema.safeParse(service.transformResponse(call, JSON.parse(JSON.stringify(response))));
      if (!parsed.success) throw new PortalError("bad_answer", { cause: parsed.error });
      return parsed.data;
    },
  });
  const service: FakeService = {
    sharing: null,
    deviceLinks: new Map(),
    account: { keyring: null, rows: new Map(), changes: 0 },
    now: Date.now,
    calls: [],
    bodies: [],
    beforeCall: () => undefined,
    transformResponse: (_call, response) => response,
    snapshot: () => structuredClone(service.account),
    http: httpFor("the first"),
    httpFor,
  };
  return service;
}

function toRefusal(cause: unknown): never {
  throw cause instanceof z.ZodError ? new PortalError("validation_error", { cause }) : cause;
}

/** Without a session, allows only calls of links. */
function requireSession({ sharing }: FakeService, call: string): void {
  const isForLinks =
    /^POST \/share\/(get-public-secret|content)(\/|$)|^POST \/requests\/get$|^[A-Z]+ \/requests\/answer(\/|$)/.test(
      call,
    );
  if (sharing?.me === null && !isForLinks) throw refusal("unauthorized");
}

async function handle(
  service: FakeService,
  userId: string,
  { signIn, method, path, body, options }: Call,
): Promise<unknown> {
  const { account, sharing } = service;
  const [call, query, now] = [`${method} ${path}`, options.query ?? {}, service.now()];
  requireSession(service, call);
  const accounts = new Set([account, ...[...(sharing?.state.people.values() ?? [])].map((person) => person.account())]);
  const answerResult = await handleAnswers([...accounts], method, path, { ...options, body }, now);
  if (answerResult !== undefined) return answerResult;
  const uploadResult = await handleUpload(account, userId, method, path, body);
  if (uploadResult !== undefined) return uploadResult;
  const requestResult = handleRequests(account, userId, call, body, query, now);
  if (requestResult !== undefined) return requestResult;
  const sharingResult = sharing === null ? undefined : handleSharing(sharing.state, sharing.me, call, body, query, now);
  if (sharingResult !== undefined) return sharingResult;
  if (call === "GET /user/keyring") return presentKeyring(account, query);
  if (call === "PUT /user/keyring") return changeKeyring(service, userId, KeyringChange.parse(body));
  if (call === "POST /user/keyring/stage") return stage(account, userId, StageRowsBody.parse(body));
  if (call.startsWith("GET /user/keyring/stage/"))
    return presentStage(account, call.slice("GET /user/keyring/stage/".length), query["cursor"]);
  const [, linkId, answerSuffix] = /^(?:GET|PUT) \/device-links\/([^/]+)(\/answer)?$/.exec(call) ?? [];
  if (linkId !== undefined)
    return handleDeviceLink(service, signIn, linkId, method === "PUT" ? body : null, answerSuffix !== undefined);
  if (call === "GET /user/image-records") return { image_records: account.keyring?.imageRecords ?? [] };
  if (call === "GET /secrets/store") return presentPage(account, query);
  if (call === "POST /secrets/store") return store(account, userId, StoreSecretBody.parse(body));
  if (call === "POST /secrets/store/batch") return storeBatch(account, userId, StoreSecretsBody.parse(body));
  const [, versionsId] = /^GET \/secrets\/store\/([^/]+)\/versions$/.exec(call) ?? [];
  if (versionsId !== undefined)
    return {
      secret_db_id: versionsId,
      ...presentVersions(account.rows.get(versionsId), query["cursor"]),
      state_rev: lastOf(account.keyring?.states)?.state_rev ?? 0,
    };
  if (call === "POST /secrets/store/get-secret") return presentSecret(account, GetSecretBody.parse(body));
  if (call === "PATCH /secrets/favorite") return setFavorite(account, SetFavoriteBody.parse(body));
  if (call.startsWith("DELETE /secrets/store/")) return trash(service, call.slice("DELETE /secrets/store/".length));
  throw refusal("not_found");
}

function changeKeyring({ account, sharing }: FakeService, userId: string, change: KeyringChange): unknown {
  if (findRepeatedCall(account, change) !== null) return { state_rev: change.state_rev };
  const resealedRows =
    change.stage_id === undefined ? [] : listStagedRows(account).filter(({ content }) => content !== undefined);
  const stateRev = applyChange(account, userId, change);
  if (sharing !== null)
    for (const { secret_db_id: id, version } of resealedRows)
      endSharesOfSecrets(sharing.state, sharing.me, id, version);
  return { state_rev: stateRev };
}

function handleDeviceLink(
  { deviceLinks: links, now }: FakeService,
  signIn: string,
  id: string,
  body: unknown,
  isAnswer: boolean,
): unknown {
  const storedLink = links.get(id);
  const link = storedLink !== undefined && storedLink.expiresAt > now() ? storedLink : undefined;
  const presentExpiry = (deviceLink: FakeDeviceLink) => ({ expires_at: new Date(deviceLink.expiresAt).toISOString() });
  if (body !== null && !isAnswer) {
    const { message } = FillDeviceLinkBody.parse(body);
    if (link !== undefined && (link.message !== message || link.filledBy !== signIn)) throw refusal("id_taken");
    const filledLink = link ?? {
      message,
      answer: null,
      filledBy: signIn,
      expiresAt: now() + deviceLinkLifetimeMinutes * 60_000,
    };
    links.set(id, filledLink);
    return presentExpiry(filledLink);
  }
  if (link === undefined) throw refusal("not_found");
  const readsAnswer = isAnswer && body === null;
  if ((link.filledBy === signIn) !== readsAnswer) throw refusal("forbidden");
  if (body === null)
    return isAnswer
      ? { answer: link.answer, ...presentExpiry(link) }
      : { message: link.message, ...presentExpiry(link) };
  const { answer } = AnswerDeviceLinkBody.parse(body);
  if (link.answer !== null && link.answer !== answer) throw refusal("conflict");
  link.answer = answer;
  return presentExpiry(link);
}

function presentKeyring(
  account: FakeAccount,
  { states_since: since, or_none: orNone }: NonNullable<HttpRequestOptions["query"]>,
): unknown {
  const { keyring } = account;
  const last = lastOf(keyring?.states);
  if (keyring === null || last === undefined) {
    if (orNone === true) return null;
    throw refusal("no_keyring");
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
    ...(since === undefined
      ? {}
      : { states: keyring.states.filter((state) => state.state_rev > Number(since)).slice(0, maxStatesPageSize) }),
  };
}

/** A repeated row replaces the earlier one. */
function stage(account: FakeAccount, userId: string, { stage_id: id, rows }: StageRowsBody): unknown {
  if (account.keyring === null) throw refusal("no_keyring");
  const { keyEpoch } = account.keyring;
  const sealedRows = rows.map((row) => ({ row, source: readSealedSource(account, row) }));
  for (const { secret_db_id: secretId, version, label } of rows) {
    const epoch =
      label !== undefined && parseUnverifiedHeader(label)["key_epoch"] === keyEpoch + 1 ? keyEpoch + 1 : keyEpoch;
    if (label !== undefined) requireLabel(label, { user_id: userId, key_epoch: epoch }, secretId, version);
  }
  if (account.stage?.id !== id) account.stage = { id, rows: new Map() };
  for (const sealedRow of sealedRows)
    account.stage.rows.set(`${sealedRow.row.secret_db_id} ${String(sealedRow.row.version)}`, sealedRow);
  return { stage_id: id, rows: account.stage.rows.size };
}

function presentStage(account: FakeAccount, id: string, cursor: QueryValue): unknown {
  if (account.stage?.id !== id) throw refusal("not_found");
  const remaining = listStagedRows(account).filter(
    ({ secret_db_id: secretId }) => cursor === undefined || secretId > String(cursor),
  );
  const ids = [...new Set(remaining.map(({ secret_db_id: secretId }) => secretId))].slice(0, pageSize);
  const rows = remaining.filter(({ secret_db_id: secretId }) => ids.includes(secretId));
  const computeRowDigest = (row: StagedRow): string => toBase64url(sha256(encodeCanonical(row)));
  return {
    stage_id: id,
    rows: rows.map((row) => ({
      secret_db_id: row.secret_db_id,
      version: row.version,
      row_sha256: computeRowDigest(row),
    })),
    next_cursor: ids.length === pageSize ? (lastOf(ids) ?? null) : null,
  };
}

function store(account: FakeAccount, userId: string, body: StoreSecretBody): unknown {
  const id = body.secret_db_id;
  const row = account.rows.get(id);
  if ("restore" in body) {
    if (row === undefined) throw refusal("not_found");
    if (row.deletedAt !== null) touch(account, row);
    row.deletedAt = null;
    delete row.trashConfirmedAt;
    return {
      secret_db_id: id,
      version: row.versions.length,
      state_rev: lastOf(account.keyring?.states)?.state_rev ?? 0,
    };
  }
  const { keyring, ...rest } = body;
  const baseVersion = body.base_version ?? null;
  const version = "content" in body ? (baseVersion ?? 0) + 1 : body.base_version;
  requireLabel(body.label, keyring, id, version);
  const repeatedCall = findRepeatedCall(account, keyring, { rest });
  if (repeatedCall !== null) return { secret_db_id: id, version: repeatedCall.version, state_rev: keyring.state_rev };
  requireNoConflict(account, id, baseVersion);
  if ("content" in body) requireVersionSpace(account, row);
  const content = "content" in body ? body.content : (lastOf(row?.versions)?.content ?? "");
  const tickets =
    "ticket" in body
      ? [{ signature: body.ticket_sig, secretId: id, version, shareId: null, ticket: body.ticket, content }]
      : [];
  const stateRev = applyChange(account, userId, keyring, { rest, secret: { id, version }, tickets });
  if ("content" in body)
    addVersion(account, id, { label: body.label, ticket: body.ticket, content: body.content, createdAt: fixedTime });
  else if (row !== undefined) {
    Object.assign(lastOf(row.versions) ?? {}, {
      label: body.label,
      ...("ticket" in body ? { ticket: body.ticket } : {}),
    });
    touch(account, row);
  }
  return { secret_db_id: id, version, state_rev: stateRev };
}

function storeBatch(account: FakeAccount, userId: string, { keyring, ...rest }: StoreSecretsBody): unknown {
  for (const { secret_db_id: id, label } of rest.secrets) requireLabel(label, keyring, id, 1);
  if (findRepeatedCall(account, keyring, { rest }) !== null) return { state_rev: keyring.state_rev };
  for (const { secret_db_id: id } of rest.secrets) requireNoConflict(account, id, null);
  const [firstSecret] = rest.secrets;
  const stateRev = applyChange(account, userId, keyring, {
    rest,
    ...(firstSecret === undefined ? {} : { secret: { id: firstSecret.secret_db_id, version: 1 } }),
    tickets: rest.secrets.map(({ secret_db_id: secretId, ticket_sig: signature, ticket, content }) => ({
      ...{ signature, secretId, version: 1, shareId: null, ticket, content },
    })),
  });
  for (const { secret_db_id: id, label, ticket, content } of rest.secrets)
    addVersion(account, id, { label, ticket, content, createdAt: fixedTime });
  return { state_rev: stateRev };
}

function presentRow(id: string, row: FakeRow): unknown {
  const last = lastOf(row.versions);
  return {
    secret_db_id: id,
    version: row.versions.length,
    favorite: row.favorite,
    label: last?.label,
    size: fromBase64url(last?.content ?? "").length,
    created_at: row.createdAt,
    updated_at: row.updatedAt,
    ...(row.deletedAt === null ? {} : { deleted_at: row.deletedAt }),
    ...(row.trashConfirmedAt === undefined ? {} : { trash_confirmed_at: row.trashConfirmedAt }),
  };
}

type QueryValue = string | number | boolean | undefined;

function presentPage(
  account: FakeAccount,
  { cursor, since, limit }: NonNullable<HttpRequestOptions["query"]>,
): unknown {
  const ids = [...account.rows]
    .filter(([, row]) => since === undefined || (row.change ?? 0) > Number(since))
    .map(([id]) => id)
    .sort();
  const remaining = cursor === undefined ? ids : ids.filter((id) => id > String(cursor));
  const page = remaining.slice(0, Math.min(pageSize, Number(limit ?? pageSize)));
  return {
    secrets: page.flatMap((id) => {
      const row = account.rows.get(id);
      return row === undefined ? [] : [presentRow(id, row)];
    }),
    total: account.rows.size,
    next_cursor: remaining.length > page.length ? lastOf(page) : null,
    state_rev: lastOf(account.keyring?.states)?.state_rev ?? 0,
    changes: account.changes,
    ...(since === undefined
      ? {}
      : { purged: [...(account.purged ?? [])].filter(([, change]) => change > Number(since)).map(([id]) => id) }),
  };
}

function presentSecret(account: FakeAccount, { secret_db_id: id, version }: z.infer<typeof GetSecretBody>): unknown {
  const row = account.rows.get(id);
  const versionNumber = version ?? row?.versions.length ?? 0;
  const requestedVersion = row?.versions[versionNumber - 1];
  if (row === undefined || requestedVersion === undefined) throw refusal("not_found");
  if (requestedVersion.dropped === true) throw refusal("content_gone");
  return {
    version: versionNumber,
    ticket: requestedVersion.ticket,
    content: isLargeContent(requestedVersion.content) ? null : requestedVersion.content,
    label: lastOf(row.versions)?.label,
    ...presentVersions(row),
  };
}

/** A page, newest first. */
function presentVersions(
  row: FakeRow | undefined,
  cursor?: QueryValue,
): Pick<SecretVersions, "versions" | "next_cursor"> {
  if (row === undefined) throw refusal("not_found");
  const line = (
    { ticket, content, createdAt, dropped = false }: FakeRow["versions"][number],
    index: number,
  ): VersionRecord => ({
    version: index + 1,
    ticket_sha256: toBase64url(sha256(fromBase64url(ticket))),
    size: fromBase64url(content).length,
    created_at: createdAt,
    dropped,
  });
  const remaining = row.versions
    .map(line)
    .toReversed()
    .filter(({ version }) => cursor === undefined || version < Number(cursor));
  const versions = remaining.slice(0, pageSize);
  return { versions, next_cursor: remaining.length > pageSize ? String(lastOf(versions)?.version) : null };
}

/** Large contents are streamed, not sent in a JSON body. */
function isLargeContent(content: string): boolean {
  return fromBase64url(content).length > maxSmallSealedBytes;
}

function setFavorite(account: FakeAccount, { secret_db_id: id, favorite }: z.infer<typeof SetFavoriteBody>): unknown {
  const row = account.rows.get(id);
  if (row === undefined) throw refusal("not_found");
  if (row.favorite !== favorite) touch(account, row);
  row.favorite = favorite;
  return presentRow(id, row);
}

function trash({ account, sharing }: FakeService, id: string): unknown {
  const row = account.rows.get(id);
  if (row === undefined) throw refusal("not_found");
  if (row.deletedAt === null) touch(account, row);
  row.deletedAt ??= fixedTime;
  if (sharing !== null) endSharesOfSecrets(sharing.state, sharing.me, id);
  return presentRow(id, row);
}
