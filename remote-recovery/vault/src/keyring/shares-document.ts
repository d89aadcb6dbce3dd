import { maxBookLength, type Audience } from "@relicario/shared/api";
import type { ShareSummary } from "@relicario/shared/contract";
import { PortalError } from "@relicario/shared/errors";

import type { AccountKey } from "../seal/account-key.ts";
import { formatTimestamp } from "../seal/ids.ts";
import { openSharesInner, sealSharesInner, type Shares, type SharesInner } from "../seal/shares.ts";
import type { VaultSession } from "../session/vault-session.ts";

export type ShareEntry = Shares["shares"][number];

/**
 * Entries of ended shares stay this long after the end, for comparison with the service's reports.
 */
const endedRetentionMilliseconds = 90 * 24 * 60 * 60 * 1000;

/** Whether the share can still be opened, according to the document. */
export function isLiveShare({ revoked_at: revokedAt, expires_at: expiresAt }: ShareEntry, now: number): boolean {
  return revokedAt === null && Date.parse(expiresAt) > now;
}

export function toShareSummary({
  share_id: shareId,
  secret_id: secretId,
  version,
  audience,
  created_at: createdAt,
  expires_at: expiresAt,
  revoked_at: revokedAt,
}: ShareEntry): ShareSummary {
  return { shareId, secretId, version, audience, createdAt, expiresAt, revokedAt };
}

/** @throws PortalError `not_found` */
export function requireShareEntry({ shares }: Shares, shareId: string): ShareEntry {
  const entry = shares.find(({ share_id: id }) => id === shareId);
  if (entry === undefined) throw new PortalError("not_found");
  return entry;
}

/** Changes one entry. Keeps the bytes of `inner`. */
export function replaceShareEntry(document: Shares, shareId: string, change: Partial<ShareEntry>): Shares {
  return {
    ...document,
    shares: document.shares.map((entry) => (entry.share_id === shareId ? { ...entry, ...change } : entry)),
  };
}

/** Marks all matching live shares as revoked. Null if none matches. */
export function markSharesEnded(document: Shares, now: number, matches: (entry: ShareEntry) => boolean): Shares | null {
  const isEnding = (entry: ShareEntry): boolean => isLiveShare(entry, now) && matches(entry);
  if (!document.shares.some(isEnding)) return null;
  return {
    ...document,
    shares: document.shares.map((entry) => (isEnding(entry) ? { ...entry, revoked_at: formatTimestamp(now) } : entry)),
  };
}

/**
 * Adds a share, and drops entries that ended long ago. Seals `inner` again, without the keys of
 * ended shares.
 */
export async function addShareEntry(
  vault: VaultSession,
  accountKey: AccountKey,
  document: Shares,
  entry: ShareEntry,
  inner: SharesInner["shares"][number],
): Promise<Shares> {
  const now = vault.now();
  const previousInner = await openSharesInner(accountKey, vault.userId, document);
  const liveIds = new Set(document.shares.filter((share) => isLiveShare(share, now)).map(({ share_id: id }) => id));
  const endedAt = (share: ShareEntry): number => Date.parse(share.revoked_at ?? share.expires_at);
  const retainedEntries = document.shares.filter(
    (share) => liveIds.has(share.share_id) || now - endedAt(share) < endedRetentionMilliseconds,
  );
  const shares = [...previousInner.shares.filter(({ share_id: id }) => liveIds.has(id)), inner];
  return {
    v: 1,
    shares: [...retainedEntries, entry],
    inner: await sealSharesInner(accountKey, vault.userId, { v: 1, shares }),
  };
}

/** @throws PortalError `limit_reached` for a document that is too long for the service */
export function requireWithinLimit({ shares = "" }: { readonly shares?: string | undefined }): void {
  if (shares.length > maxBookLength) throw new PortalError("limit_reached");
}

export function buildSharePath(audience: Audience, shareId: string): string {
  return audience === "public" ? `/shared/${shareId}` : `/p-shared/${shareId}`;
}
