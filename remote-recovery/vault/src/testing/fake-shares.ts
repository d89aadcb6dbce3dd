import {
  ChangeShareBody,
  CreateShareBody,
  fromBase64url,
  maxWrongPasswords,
  OpenShareBody,
  shareLifetimeDays,
  toBase64url,
  type OwnShare,
  type ShareOffer,
} from "@relicario/shared/api";
import type { HttpRequestOptions } from "@relicario/shared/contract";
import { PortalError } from "@relicario/shared/errors";

import { copyOf, randomBytes, sha256, type Bytes } from "../seal/bytes.ts";
import { refusal, type FakeAccount } from "./fake-account.ts";
import { applyChange, findRepeatedCall, type FakeSignedTicket } from "./fake-change.ts";

/** Tests tamper with it directly. */
export interface FakeSharing {
  /** By user name in lower case */
  readonly people: Map<string, FakePerson>;
  readonly shares: Map<string, FakeShare>;
  /** The version that each token downloads. */
  readonly tokens: Map<
    string,
    { readonly share: FakeShare; readonly version: number; readonly openedBy: string | null }
  >;
}

export interface FakePerson {
  readonly userId: string;
  readonly userName: string;
  /** Read at each call, because tests replace accounts. */
  readonly account: () => FakeAccount;
}

export interface FakeShare {
  readonly owner: FakePerson;
  readonly createBody: CreateShareBody;
  version: number;
  ticket: string;
  expiresAt: string;
  maxViews: number | null;
  revoked: boolean;
  /** Whether its secret was trashed; restoring the secret does not restore the share. */
  ended: boolean;
  wrongPasswordCount: number;
  /** Ids of claims, each of which is one view. */
  readonly claims: Set<string>;
  /** Ids of people who opened the share. */
  readonly openedBy: Set<string>;
}

const fixedTime = "2026-11-21T10:00:00.000Z";

/** The fake serves each list as one page. */
export const onlyPage = { next_cursor: null, state_rev: 0 } as const;

export function createFakeSharing(): FakeSharing {
  return { people: new Map(), shares: new Map(), tokens: new Map() };
}

/** Returns undefined for any other call. @param me null without a session */
export function handleSharing(
  sharing: FakeSharing,
  me: FakePerson | null,
  call: string,
  body: unknown,
  query: NonNullable<HttpRequestOptions["query"]>,
  now: number,
): unknown {
  const [, publicId] = /^POST \/share\/get-public-secret\/([^/]+)$/.exec(call) ?? [];
  if (publicId !== undefined) return presentShare(requireOpen(sharing, publicId, "public", me, now));
  if (call === "POST /share/get-public-secret") return openShare(sharing, me, "public", OpenShareBody.parse(body), now);
  const isForSessions =
    /^(POST|PATCH|DELETE) \/share(\/|$)|^GET \/sharelist\/|^GET \/user\/share-with-me$|^GET \/users\/[^/]+\/key$|^GET \/user\/me$/.test(
      call,
    );
  if (!isForSessions || me === null) return undefined;
  const [, signedInId] = /^POST \/share\/get-secret\/([^/]+)$/.exec(call) ?? [];
  if (signedInId !== undefined) return presentShare(requireOpen(sharing, signedInId, "signed_in", me, now));
  if (call === "POST /share/get-secret") return openShare(sharing, me, "signed_in", OpenShareBody.parse(body), now);
  if (call === "POST /share") return createShare(sharing, me, CreateShareBody.parse(body), now);
  if (call === "GET /user/share-with-me") return listReceived(sharing, me, query["get_expired"] === true, now);
  if (call === "GET /user/me") return presentMe(me);
  const [, secretId] = /^GET \/sharelist\/(.+)$/.exec(call) ?? [];
  if (secretId !== undefined)
    return {
      shares: listSharesOfSecret(sharing, me, secretId, now).filter(
        ({ end }) => end === null || query["get_expired"] === true,
      ),
      ...onlyPage,
    };
  const [, name] = /^GET \/users\/(.+)\/key$/.exec(call) ?? [];
  if (name !== undefined) {
    const statement = sharing.people.get(name.toLowerCase())?.account().keyring?.keyStatement;
    if (statement === undefined) throw refusal("not_found");
    return statement;
  }
  const [, method, id = ""] = /^(PATCH|DELETE) \/share\/(.+)$/.exec(call) ?? [];
  const share = sharing.shares.get(id);
  if (method === "PATCH") return changeShare(me, id, share, ChangeShareBody.parse(body), now);
  if (share?.owner.userId !== me.userId) throw refusal("not_found");
  share.revoked = true;
  return null;
}

/** Ends shares of trashed secrets, or of one version whose content was resealed. */
export function endSharesOfSecrets(
  { shares }: FakeSharing,
  owner: FakePerson | null,
  secretId: string,
  version: number | null = null,
): void {
  for (const share of shares.values()) {
    const isAffected =
      share.owner.userId === owner?.userId &&
      share.createBody.secret_db_id === secretId &&
      (version === null || share.version === version);
    if (isAffected) share.ended = true;
  }
}

/** @throws PortalError `share_unavailable` */
export function requireSharedContent(
  sharing: { readonly state: FakeSharing; readonly me: FakePerson | null } | null,
  token: string,
  now: number,
): Bytes {
  const claimedView = sharing?.state.tokens.get(token);
  const end = claimedView === undefined ? "ended" : findEnd(claimedView.share, now);
  const isEnded = end === "revoked" || end === "ended" || end === "expired";
  if (
    claimedView === undefined ||
    isEnded ||
    (claimedView.openedBy !== null && claimedView.openedBy !== sharing?.me?.userId)
  )
    throw refusal("share_unavailable");
  const { owner, createBody } = claimedView.share;
  return copyOf(
    fromBase64url(owner.account().rows.get(createBody.secret_db_id)?.versions[claimedView.version - 1]?.content ?? ""),
  );
}

/** @throws PortalError `validation_error` for a time in the past, or more than `days` ahead */
export function checkExpiry(expiresAt: string, days: number, now: number): void {
  const remaining = Date.parse(expiresAt) - now;
  if (remaining <= 0 || remaining > days * 86_400_000 + 3_600_000) throw refusal("validation_error");
}

function createShare(
  sharing: FakeSharing,
  me: FakePerson,
  { keyring, ...rest }: CreateShareBody,
  now: number,
): unknown {
  const account = me.account();
  const {
    share_id: id,
    secret_db_id: secretId,
    version,
    ticket,
    expires_at: expiresAt,
    max_views: maxViews = null,
  } = rest;
  if (keyring.shares === undefined) throw refusal("keyring_change_invalid");
  if (findRepeatedCall(account, keyring, { rest }) === null) {
    checkExpiry(expiresAt, shareLifetimeDays.maximum, now);
    requireCurrentVersion(account, secretId, version);
    const isPerson = [...sharing.people.values()].some(
      ({ userId }) => userId === rest.recipient && userId !== me.userId,
    );
    if (rest.recipient !== undefined && !isPerson) throw refusal("validation_error");
    if (sharing.shares.has(id)) throw refusal("id_taken");
    applyChange(account, me.userId, keyring, {
      rest,
      secret: { id: secretId, version },
      tickets: [toSignedTicket(account, { secretId, version, shareId: id, ticket, signature: rest.ticket_sig })],
    });
    sharing.shares.set(id, {
      owner: me,
      createBody: { ...rest, keyring },
      version,
      ticket,
      expiresAt,
      maxViews,
      revoked: false,
      ended: false,
      wrongPasswordCount: 0,
      claims: new Set(),
      openedBy: new Set(),
    });
  }
  return { share_id: id, state_rev: keyring.state_rev };
}

function changeShare(
  me: FakePerson,
  shareId: string,
  share: FakeShare | undefined,
  { keyring, ...rest }: ChangeShareBody,
  now: number,
): unknown {
  const account = me.account();
  const { version, ticket, expires_at: expiresAt, max_views: maxViews } = rest;
  if (keyring.shares === undefined) throw refusal("keyring_change_invalid");
  if (findRepeatedCall(account, keyring, { rest: { share_id: shareId, ...rest } }) === null) {
    if (share?.owner.userId !== me.userId) throw refusal("not_found");
    const end = findEnd(share, now);
    if (end !== null && end !== "expired" && end !== "used_up") throw refusal("conflict");
    if (expiresAt !== undefined) checkExpiry(expiresAt, shareLifetimeDays.maximum, now);
    if (version !== undefined) requireCurrentVersion(account, share.createBody.secret_db_id, version);
    applyChange(account, me.userId, keyring, {
      rest: { share_id: shareId, ...rest },
      secret: { id: share.createBody.secret_db_id, version: version ?? share.version },
      authored:
        (expiresAt !== undefined && expiresAt > share.expiresAt) ||
        (maxViews !== undefined && (maxViews ?? Infinity) > (share.maxViews ?? Infinity)),
      tickets:
        version === undefined || ticket === undefined
          ? []
          : [
              toSignedTicket(account, {
                ...{ secretId: share.createBody.secret_db_id, version, shareId, ticket },
                signature: rest.ticket_sig,
              }),
            ],
    });
    share.version = version ?? share.version;
    share.ticket = ticket ?? share.ticket;
    share.expiresAt = expiresAt ?? share.expiresAt;
    if (maxViews !== undefined) share.maxViews = maxViews;
  }
  return { share_id: shareId, state_rev: keyring.state_rev };
}

function toSignedTicket({ rows }: FakeAccount, signed: Omit<FakeSignedTicket, "content">): FakeSignedTicket {
  return { ...signed, content: rows.get(signed.secretId)?.versions[signed.version - 1]?.content ?? "" };
}

/** Only the current version of a secret outside the trash can be shared. */
function requireCurrentVersion({ rows }: FakeAccount, secretId: string, version: number): void {
  const row = rows.get(secretId);
  if (row === undefined) throw refusal("not_found");
  if (row.deletedAt !== null) throw refusal("conflict");
  if (row.versions.length !== version) throw refusal("version_conflict");
}

function findEnd(
  { revoked, ended, wrongPasswordCount, expiresAt, maxViews, claims, owner, createBody, version }: FakeShare,
  now: number,
): OwnShare["end"] {
  const row = owner.account().rows.get(createBody.secret_db_id);
  if (revoked) return "revoked";
  if (ended || row?.deletedAt !== null || row.versions[version - 1]?.dropped === true) return "ended";
  if (wrongPasswordCount >= maxWrongPasswords) return "locked";
  if (Date.parse(expiresAt) <= now) return "expired";
  return maxViews !== null && claims.size >= maxViews ? "used_up" : null;
}

/** A claimed view stays open until its share is revoked, ended or expired. */
function requireOpen(
  sharing: FakeSharing,
  shareId: string,
  audience: "public" | "signed_in",
  me: FakePerson | null,
  now: number,
  claimId?: string,
): FakeShare {
  const share = sharing.shares.get(shareId);
  const isAccessible =
    share !== undefined &&
    (share.createBody.audience === audience ||
      (audience === "signed_in" &&
        share.createBody.audience === "person" &&
        share.createBody.recipient === me?.userId));
  if (!isAccessible) throw refusal("share_unavailable");
  const end = findEnd(share, now);
  const isClaimed = claimId !== undefined && share.claims.has(claimId) && (end === "used_up" || end === "locked");
  if (end !== null && !isClaimed) throw refusal("share_unavailable");
  return share;
}

function presentShare({ createBody, expiresAt }: FakeShare) {
  return {
    share_id: createBody.share_id,
    audience: createBody.audience,
    password: createBody.password,
    picture: createBody.share_helper !== undefined,
    expires_at: expiresAt,
  };
}

function openShare(
  sharing: FakeSharing,
  me: FakePerson | null,
  audience: "public" | "signed_in",
  body: OpenShareBody,
  now: number,
): unknown {
  const share = requireOpen(sharing, body.share_id, audience, me, now, body.claim_id);
  const { createBody, owner } = share;
  const from = { user_id: owner.userId, user_name: owner.userName };
  if (createBody.audience !== "person" && computeProofDigest(body.link_auth) !== createBody.link_auth_sha256)
    throw refusal("share_unavailable");
  if (body.claim_id === undefined) {
    const offer: ShareOffer = {
      ...presentShare(share),
      from,
      share_helper: createBody.share_helper ?? null,
      views_left: countViewsLeft(share),
    };
    return offer;
  }
  if (createBody.audience !== "person" && body.pass_auth === undefined) throw refusal("validation_error");
  if (createBody.audience !== "person" && computeProofDigest(body.pass_auth) !== createBody.pass_auth_sha256) {
    share.wrongPasswordCount++;
    throw new PortalError("wrong_password", { details: { tries_left: maxWrongPasswords - share.wrongPasswordCount } });
  }
  share.claims.add(body.claim_id);
  if (me !== null && createBody.audience !== "public") share.openedBy.add(me.userId);
  const token = toBase64url(randomBytes(16));
  sharing.tokens.set(token, {
    share,
    version: share.version,
    openedBy: createBody.audience === "public" ? null : (me?.userId ?? null),
  });
  const content = owner.account().rows.get(createBody.secret_db_id)?.versions[share.version - 1]?.content ?? "";
  return {
    from,
    ticket: share.ticket,
    download: { token, size: fromBase64url(content).length, expires_at: new Date(now + 600_000).toISOString() },
  };
}

function countViewsLeft({ maxViews, claims }: FakeShare): number | null {
  return maxViews === null ? null : Math.max(0, maxViews - claims.size);
}

function computeProofDigest(proof: string | undefined): string {
  return proof === undefined ? "" : toBase64url(sha256(fromBase64url(proof)));
}

/** Newest first. */
function listSharesOfSecret(
  { people, shares }: FakeSharing,
  me: FakePerson,
  secretId: string,
  now: number,
): OwnShare[] {
  const findUserName = (id: string): string => [...people.values()].find(({ userId }) => userId === id)?.userName ?? "";
  const ownShares = [...shares.values()]
    .reverse()
    .filter(({ owner, createBody }) => owner.userId === me.userId && createBody.secret_db_id === secretId);
  return ownShares.map((share) => {
    const { createBody, version, expiresAt, maxViews, claims, ticket } = share;
    return {
      share_id: createBody.share_id,
      secret_db_id: createBody.secret_db_id,
      version,
      audience: createBody.audience,
      recipient:
        createBody.recipient === undefined
          ? null
          : { user_id: createBody.recipient, user_name: findUserName(createBody.recipient) },
      password: createBody.password,
      picture: createBody.share_helper !== undefined,
      ticket_sha256: toBase64url(sha256(fromBase64url(ticket))),
      created_at: fixedTime,
      expires_at: expiresAt,
      views: claims.size,
      max_views: maxViews,
      last_opened_at: claims.size === 0 ? null : fixedTime,
      notify: createBody.notify ?? false,
      end: findEnd(share, now),
    };
  });
}

/** Includes links for signed-in people that this person opened. */
function listReceived(sharing: FakeSharing, me: FakePerson, includeEnded: boolean, now: number): unknown {
  const receivedShares = [...sharing.shares.values()]
    .reverse()
    .filter((share) => share.createBody.recipient === me.userId || share.openedBy.has(me.userId));
  return {
    shares: receivedShares
      .map((share) => ({
        share_id: share.createBody.share_id,
        audience: share.createBody.audience,
        from: { user_id: share.owner.userId, user_name: share.owner.userName },
        created_at: fixedTime,
        expires_at: share.expiresAt,
        opened_at: share.openedBy.has(me.userId) ? fixedTime : null,
        views_left: countViewsLeft(share),
        available: findEnd(share, now) === null,
      }))
      .filter(({ available }) => available || includeEnded),
    ...onlyPage,
  };
}

function presentMe({ userId, userName }: FakePerson): unknown {
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
    created_at: fixedTime,
  };
}
