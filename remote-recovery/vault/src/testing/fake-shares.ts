import { canonicalText, ChangeShare, CreateShare, fromB64u, maxWrongPasswords, OpenShare, toB64u, type OwnShare, type ShareOffer } from "@relicario/shared/api";
import type { HttpOptions, HttpStream } from "@relicario/shared/contract";
import { PortalError } from "@relicario/shared/errors";

import { copyOf, randomBytes, sha256 } from "../seal/bytes.ts";
import { applyChange, fail, type FakeAccount } from "./fake-account.ts";

/** Shares between people, as the service keeps them. Tests tamper with it directly. */
export interface FakeSharing {
  /** By user name in lower case. */
  readonly people: Map<string, FakePerson>;
  readonly shares: Map<string, FakeShare>;
  /** Download tokens, and what they are for. */
  readonly tokens: Map<string, { readonly ownerId: string; readonly secretId: string; readonly version: number }>;
}

export interface FakePerson {
  readonly userId: string;
  readonly userName: string;
  /** Read at each call: tests replace accounts. */
  readonly account: () => FakeAccount;
}

export interface FakeShare {
  readonly owner: FakePerson;
  readonly wire: CreateShare;
  version: number;
  ticket: string;
  expiresAt: string;
  maxViews: number | null;
  revoked: boolean;
  /** Its secret went to the trash; it does not come back with it. */
  ended: boolean;
  wrong: number;
  /** One view each. */
  readonly claims: Set<string>;
  /** Ids of people who opened it. */
  readonly openedBy: Set<string>;
}

const now = "2026-11-21T10:00:00.000Z";

export function createFakeSharing(): FakeSharing {
  return { people: new Map(), shares: new Map(), tokens: new Map() };
}

/** The calls of sharing by the service's rules, for whoever is signed in; null for nobody. Undefined for any other call. */
export function handleSharing(sharing: FakeSharing, me: FakePerson | null, call: string, body: unknown, query: NonNullable<HttpOptions["query"]>): unknown {
  const [, publicLook] = /^POST \/share\/get-public-secret\/([^/]+)$/.exec(call) ?? [];
  if (publicLook !== undefined) return look(requireOpen(sharing, publicLook, "public"));
  if (call === "POST /share/get-public-secret") return open(sharing, null, "public", OpenShare.parse(body));
  const isMine = /^(POST|PATCH|DELETE) \/share(\/|$)|^GET \/sharelist\/|^GET \/user\/share-with-me$|^GET \/users\/[^/]+\/key$|^GET \/user\/me$/.test(call);
  if (!isMine) return undefined;
  if (me === null) throw fail("unauthorized");
  const [, signedLook] = /^POST \/share\/get-secret\/([^/]+)$/.exec(call) ?? [];
  if (signedLook !== undefined) return look(requireOpen(sharing, signedLook, "signed_in", me));
  if (call === "POST /share/get-secret") return open(sharing, me, "signed_in", OpenShare.parse(body));
  if (call === "POST /share") return create(sharing, me, CreateShare.parse(body));
  if (call === "GET /user/share-with-me") return withMe(sharing, me, query["get_expired"] === true);
  if (call === "GET /user/me") return meOf(me);
  const [, ofSecret] = /^GET \/sharelist\/(.+)$/.exec(call) ?? [];
  if (ofSecret !== undefined) return { shares: [...sharing.shares.values()].filter(({ owner, wire }) => owner.userId === me.userId && wire.secret_db_id === ofSecret).map(present) };
  const [, name] = /^GET \/users\/(.+)\/key$/.exec(call) ?? [];
  if (name !== undefined) {
    const statement = sharing.people.get(name.toLowerCase())?.account().keyring?.keyStatement;
    if (statement === undefined) throw fail("not_found");
    return statement;
  }
  const [, method, id = ""] = /^(PATCH|DELETE) \/share\/(.+)$/.exec(call) ?? [];
  const share = sharing.shares.get(id);
  if (share?.owner.userId !== me.userId) throw fail("share_unavailable");
  if (method === "DELETE") {
    share.revoked = true;
    return null;
  }
  return change(share, ChangeShare.parse(body));
}

/** What goes to the trash ends its shares. */
export function endSharesOf({ shares }: FakeSharing, secretId: string): void {
  for (const share of shares.values()) if (share.wire.secret_db_id === secretId) share.ended = true;
}

/** Sealed content by a download token, or a range of it. */
export function streamShared(sharing: FakeSharing, { body, headers }: HttpOptions): HttpStream {
  const place = sharing.tokens.get((body as { token: string }).token);
  const owner = [...sharing.people.values()].find(({ userId }) => userId === place?.ownerId);
  const content = owner?.account().rows.get(place?.secretId ?? "")?.versions[(place?.version ?? 0) - 1]?.content;
  if (content === undefined) throw fail("share_unavailable");
  const bytes = copyOf(fromB64u(content));
  const [, from, to] = /^bytes=(\d+)-(\d+)$/.exec(headers?.["range"] ?? "") ?? [];
  return { size: bytes.length, start: Number(from ?? 0), body: new Blob([bytes.slice(Number(from ?? 0), to === undefined ? undefined : Number(to) + 1)]).stream() };
}

function create(sharing: FakeSharing, me: FakePerson, body: CreateShare): unknown {
  const account = me.account();
  const before = sharing.shares.get(body.share_id);
  if (account.keyring?.lastChange !== canonicalText(body.keyring)) {
    if (before !== undefined) throw fail("id_taken");
    const row = account.rows.get(body.secret_db_id);
    if (row?.deletedAt !== null || row.versions.length !== body.version) throw fail("version_conflict");
  }
  const stateRev = applyChange(account, me.userId, body.keyring);
  if (before === undefined) {
    const { version, ticket, expires_at: expiresAt, max_views: maxViews = null } = body;
    sharing.shares.set(body.share_id, { owner: me, wire: body, version, ticket, expiresAt, maxViews, revoked: false, ended: false, wrong: 0, claims: new Set(), openedBy: new Set() });
  }
  return { share_id: body.share_id, state_rev: stateRev };
}

function change(share: FakeShare, { version, ticket, expires_at: expiresAt, max_views: maxViews, keyring }: ChangeShare): unknown {
  const stateRev = applyChange(share.owner.account(), share.owner.userId, keyring);
  share.version = version ?? share.version;
  share.ticket = ticket ?? share.ticket;
  share.expiresAt = expiresAt ?? share.expiresAt;
  if (maxViews !== undefined) share.maxViews = maxViews;
  return { share_id: share.wire.share_id, state_rev: stateRev };
}

function endOf({ revoked, ended, wrong, expiresAt, maxViews, claims, owner, wire, version }: FakeShare): OwnShare["end"] {
  const row = owner.account().rows.get(wire.secret_db_id);
  if (revoked) return "revoked";
  if (ended || row?.deletedAt !== null || row.versions[version - 1]?.dropped === true) return "ended";
  if (wrong >= maxWrongPasswords) return "locked";
  if (Date.parse(expiresAt) <= Date.now()) return "expired";
  return maxViews !== null && claims.size >= maxViews ? "used_up" : null;
}

function requireOpen(sharing: FakeSharing, shareId: string, audience: "public" | "signed_in", me: FakePerson | null = null, claimId?: string): FakeShare {
  const share = sharing.shares.get(shareId);
  const isFor = share !== undefined && (share.wire.audience === audience || (audience === "signed_in" && share.wire.audience === "person" && share.wire.recipient === me?.userId));
  const isClaimed = claimId !== undefined && share?.claims.has(claimId) === true;
  if (!isFor || (endOf(share) !== null && !isClaimed)) throw fail("share_unavailable");
  return share;
}

function look({ wire, expiresAt }: FakeShare) {
  return { share_id: wire.share_id, audience: wire.audience, password: wire.password, picture: wire.share_helper !== undefined, expires_at: expiresAt };
}

function open(sharing: FakeSharing, me: FakePerson | null, audience: "public" | "signed_in", body: OpenShare): unknown {
  const share = requireOpen(sharing, body.share_id, audience, me, body.claim_id);
  const { wire, owner } = share;
  const from = { user_id: owner.userId, user_name: owner.userName };
  if (wire.audience !== "person" && digest(body.link_auth) !== wire.link_auth_sha256) throw fail("share_unavailable");
  if (body.claim_id === undefined) {
    const offer: ShareOffer = { ...look(share), from, share_helper: wire.share_helper ?? null, views_left: share.maxViews === null ? null : share.maxViews - share.claims.size };
    return offer;
  }
  if (wire.audience !== "person" && digest(body.pass_auth) !== wire.pass_auth_sha256) {
    share.wrong++;
    throw new PortalError("wrong_password", { details: { tries_left: maxWrongPasswords - share.wrong } });
  }
  share.claims.add(body.claim_id);
  if (me !== null) share.openedBy.add(me.userId);
  const token = toB64u(randomBytes(16));
  sharing.tokens.set(token, { ownerId: owner.userId, secretId: wire.secret_db_id, version: share.version });
  const content = owner.account().rows.get(wire.secret_db_id)?.versions[share.version - 1]?.content ?? "";
  return { from, ticket: share.ticket, download: { token, size: fromB64u(content).length, expires_at: new Date(Date.now() + 600_000).toISOString() } };
}

function digest(proof: string | undefined): string {
  return proof === undefined ? "" : toB64u(sha256(fromB64u(proof)));
}

function present(share: FakeShare): OwnShare {
  const { wire, version, expiresAt, maxViews, claims, ticket } = share;
  return {
    share_id: wire.share_id,
    secret_db_id: wire.secret_db_id,
    version,
    audience: wire.audience,
    recipient: wire.recipient === undefined ? null : { user_id: wire.recipient, user_name: "somebody" },
    password: wire.password,
    picture: wire.share_helper !== undefined,
    ticket_sha256: toB64u(sha256(fromB64u(ticket))),
    created_at: now,
    expires_at: expiresAt,
    views: claims.size,
    max_views: maxViews,
    last_opened_at: null,
    notify: wire.notify ?? false,
    end: endOf(share),
  };
}

function withMe(sharing: FakeSharing, me: FakePerson, ended: boolean): unknown {
  const shares = [...sharing.shares.values()].filter((share) => share.wire.recipient === me.userId && (ended || endOf(share) === null));
  return {
    shares: shares.map((share) => ({
      share_id: share.wire.share_id,
      audience: share.wire.audience,
      from: { user_id: share.owner.userId, user_name: share.owner.userName },
      created_at: now,
      expires_at: share.expiresAt,
      opened_at: share.openedBy.has(me.userId) ? now : null,
      views_left: share.maxViews === null ? null : share.maxViews - share.claims.size,
      available: endOf(share) === null,
    })),
  };
}

function meOf({ userId, userName }: FakePerson): unknown {
  const licence = { plan: "free", storage_quota: 1, storage_used: 0, secrets: 0, shares: 0 };
  return { user_id: userId, user_name: userName, username: userName, contact_email: null, contact_email_verified: false, licence, rehearsal_due_at: null, notifications: { share_opened: true, share_expiring: true, request_answered: true, shared_with_you: true, new_device: true, rehearsal: true }, telemetry: true, deletion_due_at: null, created_at: now };
}
