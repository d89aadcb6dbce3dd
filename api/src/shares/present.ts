import type { OwnShare, ShareClaim, ShareInfo, ShareOffer, ReceivedShares } from "@relicario/shared/api";

import {
  getEndReason,
  type ShareWithTicket,
  type ShareOwner,
  type ReceivedShareRow,
  type ShareRow,
} from "./queries.ts";

export function presentOwnShare(share: ShareRow, recipientName: string | null, now: Date): OwnShare {
  return {
    share_id: share.shareId,
    secret_db_id: share.secretId,
    version: share.version,
    audience: share.audience,
    recipient: share.recipientId === null ? null : { user_id: share.recipientId, user_name: recipientName ?? "" },
    password: share.hasPassword,
    picture: share.hasPicture,
    ticket_sha256: share.ticketSha256.toString("base64url"),
    created_at: share.createdAt.toISOString(),
    expires_at: share.expiresAt.toISOString(),
    views: share.views,
    max_views: share.maxViews,
    last_opened_at: share.lastOpenedAt?.toISOString() ?? null,
    notify: share.notify,
    end: getEndReason(share, now),
  };
}

export function presentShareInfo({
  shareId,
  audience,
  hasPassword: password,
  hasPicture: picture,
  expiresAt,
}: ShareRow): ShareInfo {
  return { share_id: shareId, audience, password, picture, expires_at: expiresAt.toISOString() };
}

export function presentOffer(share: ShareWithTicket, owner: ShareOwner): ShareOffer {
  return {
    ...presentShareInfo(share),
    from: presentOwner(owner),
    share_helper: share.shareHelper?.toString("base64url") ?? null,
    views_left: countViewsLeft(share),
  };
}

export function presentClaim(
  { ticket }: ShareWithTicket,
  owner: ShareOwner,
  download: ShareClaim["download"],
): ShareClaim {
  return { from: presentOwner(owner), ticket: ticket.toString("base64url"), download };
}

export function presentReceived(
  { share, owner, openedAt }: ReceivedShareRow,
  now: Date,
): ReceivedShares["shares"][number] {
  return {
    share_id: share.shareId,
    audience: share.audience,
    from: presentOwner(owner),
    created_at: share.createdAt.toISOString(),
    expires_at: share.expiresAt.toISOString(),
    opened_at: openedAt?.toISOString() ?? null,
    views_left: countViewsLeft(share),
    available: getEndReason(share, now) === null && owner.lockedAt === null,
  };
}

function presentOwner({ id, userName }: ShareOwner): { user_id: string; user_name: string } {
  return { user_id: id, user_name: userName };
}

function countViewsLeft({ maxViews, views }: ShareRow): number | null {
  return maxViews === null ? null : Math.max(0, maxViews - views);
}
