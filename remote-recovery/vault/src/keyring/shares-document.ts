import { maxBookLength, type Audience } from "@relicario/shared/api";
import type { ShareSummary } from "@relicario/shared/contract";
import { PortalError } from "@relicario/shared/errors";

import type { AccountKey } from "../seal/account-key.ts";
import { formatTimestamp } from "../seal/ids.ts";
import { openSharesInner, sealSharesInner, type Shares, type SharesInner } from "../seal/shares.ts";
import type { VaultSession } from "../session/vault-session.ts";

export type ShareEntry = Shares["shares"][number];

/**
 * Marks of ended shares stay so long: what the service says of them can be compared. Milliseconds.
 */
const endedRetentionMilliseconds = 90 * 24 * 60 * 60 * 1000;

/** Whether somebody can open it, as far as the document says. */
export function isLive({ revoked_at: revokedAt, expires_at: expiresAt }: ShareEntry, now: number): boolean {
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

/** @throws PortalError `not_found`. */
export function requireEntry({ shares }: Shares, shareId: string): ShareEntry {
  const entry = shares.find(({ share_id: id }) => id === shareId);
  if (entry === undefined) throw new PortalError("not_found");
  return entry;
}

/** The same document with one entry changed. `inner` is carried over byte for byte. */
export function withEntry(document: Shares, shareId: string, change: Partial<ShareEntry>): Shares {
  return {
    ...document,
    shares: document.shares.map((entry) => (entry.share_id === shareId ? { ...entry, ...change } : entry)),
  };
}

/**
 * The document with the mark on every live share that ends with what goes; null where none does.
 */
export function withSharesEnded(document: Shares, now: number, matches: (entry: ShareEntry) => boolean): Shares | null {
  const isEnding = (entry: ShareEntry): boolean => isLive(entry, now) && matches(entry);
  if (!document.shares.some(isEnding)) return null;
  return {
    ...document,
    shares: document.shares.map((entry) => (isEnding(entry) ? { ...entry, revoked_at: formatTimestamp(now) } : entry)),
  };
}

/**
 * The document with another share in it, and without what ended long ago. Keys of what ended go
 * with it: only then is the inner document sealed anew.
 */
export async function withShare(
  vault: VaultSession,
  accountKey: AccountKey,
  document: Shares,
  entry: ShareEntry,
  inner: SharesInner["shares"][number],
): Promise<Shares> {
  const now = vault.now();
  const previousInner = await openSharesInner(accountKey, vault.userId, document);
  const live = new Set(document.shares.filter((share) => isLive(share, now)).map(({ share_id: id }) => id));
  const endedAt = (share: ShareEntry): number => Date.parse(share.revoked_at ?? share.expires_at);
  const retained = document.shares.filter(
    (share) => live.has(share.share_id) || now - endedAt(share) < endedRetentionMilliseconds,
  );
  const shares = [...previousInner.shares.filter(({ share_id: id }) => live.has(id)), inner];
  return {
    v: 1,
    shares: [...retained, entry],
    inner: await sealSharesInner(accountKey, vault.userId, { v: 1, shares }),
  };
}

/**
 * @throws PortalError `limit_reached` for a document that would not be taken: too many shares are
 *   open.
 */
export function requireWithinLimit({ shares = "" }: { readonly shares?: string | undefined }): void {
  if (shares.length > maxBookLength) throw new PortalError("limit_reached");
}

/** The path of a link to it. */
export function sharePathOf(audience: Audience, shareId: string): string {
  return audience === "public" ? `/shared/${shareId}` : `/p-shared/${shareId}`;
}
