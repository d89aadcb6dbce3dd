import type { OwnShare, ShareClaim, ShareInfo, ShareOffer, ReceivedShares } from "@relicario/shared/api";

import { endReasonOf, type ShareWithTicket, type ShareOwner, type ReceivedRow, type ShareRow } from "./queries.ts";

export function presentOwnShare(share: ShareRow, recipientName: string | null, now: Date): OwnShare {
  return {
    share_id: share.shareId,
    secret_db_id: share.secretId,
    version: share.version,
    audience: share.audience,
    recipient: share.recipientId === null ? null : { user_id: share.recipientId, user_name: recipientName ?? "" },
    password: share.password,
    picture: share.picture,
    ticket_sha256: share.ticketSha256.toString("base64url"),
    created_at: share.createdAt.toISOString(),
    expires_at: share.expiresAt.toISOString(),
    views: share.views,
    max_views: share.maxViews,
    last_opened_at: share.lastOpenedAt?.toISOString() ?? null,
    notify: share.notify,
    end: endReasonOf(share, now),
  };
}

export function presentShareInfo({ shareId, audience, password, picture, expiresAt }: ShareRow): ShareInfo {
  return { share_id: shareId, audience, password, picture, expires_at: expiresAt.toISOString() };
}

export function presentOffer(share: ShareWithTicket, owner: ShareOwner): ShareOffer {
  return {
    ...presentShareInfo(share),
    from: presentPerson(owner),
    share_helper: share.shareHelper?.toString("base64url") ?? null,
    views_left: viewsLeft(share),
  };
}

export function presentClaim(
  { ticket }: ShareWithTicket,
  owner: ShareOwner,
  download: ShareClaim["download"],
): ShareClaim {
  return { from: presentPerson(owner), ticket: ticket.toString("base64url"), download };
}

export function presentReceived({ share, owner, openedAt }: ReceivedRow, now: Date): ReceivedShares["shares"][number] {
  return {
    share_id: share.shareId,
    audience: share.audience,
    from: presentPerson(owner),
    created_at: share.createdAt.toISOString(),
    expires_at: share.expiresAt.toISOString(),
    opened_at: openedAt?.toISOString() ?? null,
    views_left: viewsLeft(share),
    available: endReasonOf(share, now) === null && owner.lockedAt === null,
  };
}

function presentPerson({ id, userName }: ShareOwner): { user_id: string; user_name: string } {
  return { user_id: id, user_name: userName };
}

function viewsLeft({ maxViews, views }: ShareRow): number | null {
  return maxViews === null ? null : Math.max(0, maxViews - views);
}
