import {
  ChangeShare,
  CreateShare,
  fromB64u,
  maxWrongPasswords,
  OpenShare,
  shareDays,
  toB64u,
  type OwnShare,
  type ShareOffer,
} from "@relicario/shared/api";
import type { HttpOptions } from "@relicario/shared/contract";
import { PortalError } from "@relicario/shared/errors";

import { copyOf, randomBytes, sha256, type Bytes } from "../seal/bytes.ts";
import { fail, type FakeAccount } from "./fake-account.ts";
import { applyChange, repeatOf } from "./fake-change.ts";

/** Shares between people, as the service keeps them. Tests tamper with it directly. */
export interface FakeSharing {
  /** By user name in lower case. */
  readonly people: Map<string, FakePerson>;
  readonly shares: Map<string, FakeShare>;
  /** Download tokens, and what they are for. */
  readonly tokens: Map<
    string,
    { readonly share: FakeShare; readonly version: number; readonly openedBy: string | null }
  >;
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

const at = "2026-11-21T10:00:00.000Z";

export function createFakeSharing(): FakeSharing {
  return { people: new Map(), shares: new Map(), tokens: new Map() };
}

/**
 * The calls of sharing by the service's rules, for whoever is signed in; null for nobody. Undefined
 * for any other call.
 */
export function handleSharing(
  sharing: FakeSharing,
  me: FakePerson | null,
  call: string,
  body: unknown,
  query: NonNullable<HttpOptions["query"]>,
  now: number,
): unknown {
  const [, publicLook] = /^POST \/share\/get-public-secret\/([^/]+)$/.exec(call) ?? [];
  if (publicLook !== undefined) return look(requireOpen(sharing, publicLook, "public", me, now));
  if (call === "POST /share/get-public-secret") return open(sharing, me, "public", OpenShare.parse(body), now);
  const isMine =
    /^(POST|PATCH|DELETE) \/share(\/|$)|^GET \/sharelist\/|^GET \/user\/share-with-me$|^GET \/users\/[^/]+\/key$|^GET \/user\/me$/.test(
      call,
    );
  if (!isMine || me === null) return undefined;
  const [, signedLook] = /^POST \/share\/get-secret\/([^/]+)$/.exec(call) ?? [];
  if (signedLook !== undefined) return look(requireOpen(sharing, signedLook, "signed_in", me, now));
  if (call === "POST /share/get-secret") return open(sharing, me, "signed_in", OpenShare.parse(body), now);
  if (call === "POST /share") return create(sharing, me, CreateShare.parse(body), now);
  if (call === "GET /user/share-with-me") return withMe(sharing, me, query["get_expired"] === true, now);
  if (call === "GET /user/me") return meOf(me);
  const [, ofSecret] = /^GET \/sharelist\/(.+)$/.exec(call) ?? [];
  if (ofSecret !== undefined)
    return {
      shares: listOf(sharing, me, ofSecret, now).filter(({ end }) => end === null || query["get_expired"] === true),
    };
  const [, name] = /^GET \/users\/(.+)\/key$/.exec(call) ?? [];
  if (name !== undefined) {
    const statement = sharing.people.get(name.toLowerCase())?.account().keyring?.keyStatement;
    if (statement === undefined) throw fail("not_found");
    return statement;
  }
  const [, method, id = ""] = /^(PATCH|DELETE) \/share\/(.+)$/.exec(call) ?? [];
  const share = sharing.shares.get(id);
  if (method === "PATCH") return change(me, id, share, ChangeShare.parse(body), now);
  if (share?.owner.userId !== me.userId) throw fail("not_found");
  share.revoked = true;
  return null;
}

/**
 * What goes to the trash ends its shares, and a content that was sealed anew those of its version.
 */
export function endSharesOf(
  { shares }: FakeSharing,
  owner: FakePerson | null,
  secretId: string,
  version: number | null = null,
): void {
  for (const share of shares.values()) {
    const isMeant =
      share.owner.userId === owner?.userId &&
      share.wire.secret_db_id === secretId &&
      (version === null || share.version === version);
    if (isMeant) share.ended = true;
  }
}

/** The content of a view that was claimed. @throws PortalError `share_unavailable` */
export function sharedContent(
  sharing: { readonly between: FakeSharing; readonly me: FakePerson | null } | null,
  token: string,
  now: number,
): Bytes {
  const claimed = sharing?.between.tokens.get(token);
  const end = claimed === undefined ? "ended" : endOf(claimed.share, now);
  const isOver = end === "revoked" || end === "ended" || end === "expired";
  if (claimed === undefined || isOver || (claimed.openedBy !== null && claimed.openedBy !== sharing?.me?.userId))
    throw fail("share_unavailable");
  const { owner, wire } = claimed.share;
  return copyOf(fromB64u(owner.account().rows.get(wire.secret_db_id)?.versions[claimed.version - 1]?.content ?? ""));
}

/** @throws PortalError `validation_error` for a time that is over, or later than so many days. */
export function checkExpiry(expiresAt: string, days: number, now: number): void {
  const left = Date.parse(expiresAt) - now;
  if (left <= 0 || left > days * 86_400_000 + 3_600_000) throw fail("validation_error");
}

function create(sharing: FakeSharing, me: FakePerson, { keyring, ...rest }: CreateShare, now: number): unknown {
  const account = me.account();
  const {
    share_id: id,
    secret_db_id: secretId,
    version,
    ticket,
    expires_at: expiresAt,
    max_views: maxViews = null,
  } = rest;
  if (keyring.shares === undefined) throw fail("keyring_change_invalid");
  if (repeatOf(account, keyring, { rest }) === null) {
    checkExpiry(expiresAt, shareDays.most, now);
    requirePresent(account, secretId, version);
    const isPerson = [...sharing.people.values()].some(
      ({ userId }) => userId === rest.recipient && userId !== me.userId,
    );
    if (rest.recipient !== undefined && !isPerson) throw fail("validation_error");
    if (sharing.shares.has(id)) throw fail("id_taken");
    applyChange(account, me.userId, keyring, { rest, secret: { id: secretId, version } });
    sharing.shares.set(id, {
      owner: me,
      wire: { ...rest, keyring },
      version,
      ticket,
      expiresAt,
      maxViews,
      revoked: false,
      ended: false,
      wrong: 0,
      claims: new Set(),
      openedBy: new Set(),
    });
  }
  return { share_id: id, state_rev: keyring.state_rev };
}

function change(
  me: FakePerson,
  shareId: string,
  share: FakeShare | undefined,
  { keyring, ...rest }: ChangeShare,
  now: number,
): unknown {
  const account = me.account();
  const { version, ticket, expires_at: expiresAt, max_views: maxViews } = rest;
  if (keyring.shares === undefined) throw fail("keyring_change_invalid");
  if (repeatOf(account, keyring, { rest: { share_id: shareId, ...rest } }) === null) {
    if (share?.owner.userId !== me.userId) throw fail("not_found");
    const end = endOf(share, now);
    if (end !== null && end !== "expired" && end !== "used_up") throw fail("conflict");
    if (expiresAt !== undefined) checkExpiry(expiresAt, shareDays.most, now);
    if (version !== undefined) requirePresent(account, share.wire.secret_db_id, version);
    applyChange(account, me.userId, keyring, {
      rest: { share_id: shareId, ...rest },
      secret: { id: share.wire.secret_db_id, version: version ?? share.version },
    });
    share.version = version ?? share.version;
    share.ticket = ticket ?? share.ticket;
    share.expiresAt = expiresAt ?? share.expiresAt;
    if (maxViews !== undefined) share.maxViews = maxViews;
  }
  return { share_id: shareId, state_rev: keyring.state_rev };
}

/** What is shared is the present version of a secret that is not in the trash. */
function requirePresent({ rows }: FakeAccount, secretId: string, version: number): void {
  const row = rows.get(secretId);
  if (row === undefined) throw fail("not_found");
  if (row.deletedAt !== null) throw fail("conflict");
  if (row.versions.length !== version) throw fail("version_conflict");
}

function endOf(
  { revoked, ended, wrong, expiresAt, maxViews, claims, owner, wire, version }: FakeShare,
  now: number,
): OwnShare["end"] {
  const row = owner.account().rows.get(wire.secret_db_id);
  if (revoked) return "revoked";
  if (ended || row?.deletedAt !== null || row.versions[version - 1]?.dropped === true) return "ended";
  if (wrong >= maxWrongPasswords) return "locked";
  if (Date.parse(expiresAt) <= now) return "expired";
  return maxViews !== null && claims.size >= maxViews ? "used_up" : null;
}

/** A view that was claimed stays one until its share is revoked, ended or over. */
function requireOpen(
  sharing: FakeSharing,
  shareId: string,
  audience: "public" | "signed_in",
  me: FakePerson | null,
  now: number,
  claimId?: string,
): FakeShare {
  const share = sharing.shares.get(shareId);
  const isFor =
    share !== undefined &&
    (share.wire.audience === audience ||
      (audience === "signed_in" && share.wire.audience === "person" && share.wire.recipient === me?.userId));
  if (!isFor) throw fail("share_unavailable");
  const end = endOf(share, now);
  const isClaimed = claimId !== undefined && share.claims.has(claimId) && (end === "used_up" || end === "locked");
  if (end !== null && !isClaimed) throw fail("share_unavailable");
  return share;
}

function look({ wire, expiresAt }: FakeShare) {
  return {
    share_id: wire.share_id,
    audience: wire.audience,
    password: wire.password,
    picture: wire.share_helper !== undefined,
    expires_at: expiresAt,
  };
}

function open(
  sharing: FakeSharing,
  me: FakePerson | null,
  audience: "public" | "signed_in",
  body: OpenShare,
  now: number,
): unknown {
  const share = requireOpen(sharing, body.share_id, audience, me, now, body.claim_id);
  const { wire, owner } = share;
  const from = { user_id: owner.userId, user_name: owner.userName };
  if (wire.audience !== "person" && digest(body.link_auth) !== wire.link_auth_sha256) throw fail("share_unavailable");
  if (body.claim_id === undefined) {
    const offer: ShareOffer = {
      ...look(share),
      from,
      share_helper: wire.share_helper ?? null,
      views_left: viewsLeft(share),
    };
    return offer;
  }
  if (wire.audience !== "person" && body.pass_auth === undefined) throw fail("validation_error");
  if (wire.audience !== "person" && digest(body.pass_auth) !== wire.pass_auth_sha256) {
    share.wrong++;
    throw new PortalError("wrong_password", { details: { tries_left: maxWrongPasswords - share.wrong } });
  }
  share.claims.add(body.claim_id);
  if (me !== null && wire.audience !== "public") share.openedBy.add(me.userId);
  const token = toB64u(randomBytes(16));
  sharing.tokens.set(token, {
    share,
    version: share.version,
    openedBy: wire.audience === "public" ? null : (me?.userId ?? null),
  });
  const content = owner.account().rows.get(wire.secret_db_id)?.versions[share.version - 1]?.content ?? "";
  return {
    from,
    ticket: share.ticket,
    download: { token, size: fromB64u(content).length, expires_at: new Date(now + 600_000).toISOString() },
  };
}

function viewsLeft({ maxViews, claims }: FakeShare): number | null {
  return maxViews === null ? null : Math.max(0, maxViews - claims.size);
}

function digest(proof: string | undefined): string {
  return proof === undefined ? "" : toB64u(sha256(fromB64u(proof)));
}

/** Newest first. */
function listOf({ people, shares }: FakeSharing, me: FakePerson, secretId: string, now: number): OwnShare[] {
  const nameOf = (id: string): string => [...people.values()].find(({ userId }) => userId === id)?.userName ?? "";
  const mine = [...shares.values()]
    .reverse()
    .filter(({ owner, wire }) => owner.userId === me.userId && wire.secret_db_id === secretId);
  return mine.map((share) => {
    const { wire, version, expiresAt, maxViews, claims, ticket } = share;
    return {
      share_id: wire.share_id,
      secret_db_id: wire.secret_db_id,
      version,
      audience: wire.audience,
      recipient: wire.recipient === undefined ? null : { user_id: wire.recipient, user_name: nameOf(wire.recipient) },
      password: wire.password,
      picture: wire.share_helper !== undefined,
      ticket_sha256: toB64u(sha256(fromB64u(ticket))),
      created_at: at,
      expires_at: expiresAt,
      views: claims.size,
      max_views: maxViews,
      last_opened_at: claims.size === 0 ? null : at,
      notify: wire.notify ?? false,
      end: endOf(share, now),
    };
  });
}

/** Those for this person, and links for signed-in people that this person opened. */
function withMe(sharing: FakeSharing, me: FakePerson, ended: boolean, now: number): unknown {
  const mine = [...sharing.shares.values()]
    .reverse()
    .filter((share) => share.wire.recipient === me.userId || share.openedBy.has(me.userId));
  return {
    shares: mine
      .map((share) => ({
        share_id: share.wire.share_id,
        audience: share.wire.audience,
        from: { user_id: share.owner.userId, user_name: share.owner.userName },
        created_at: at,
        expires_at: share.expiresAt,
        opened_at: share.openedBy.has(me.userId) ? at : null,
        views_left: viewsLeft(share),
        available: endOf(share, now) === null,
      }))
      .filter(({ available }) => available || ended),
  };
}

function meOf({ userId, userName }: FakePerson): unknown {
  const licence = { plan: "free", storage_quota: 1, storage_used: 0, secrets: 0, shares: 0 };
  return {
    user_id: userId,
    user_name: userName,
    username: userName,
    contact_email: null,
    contact_email_verified: false,
    licence,
    rehearsal_due_at: null,
    notifications: {
      share_opened: true,
      share_expiring: true,
      request_answered: true,
      shared_with_you: true,
      new_device: true,
      rehearsal: true,
    },
    telemetry: true,
    deletion_due_at: null,
    created_at: at,
  };
}
