import { Id, type OwnShare } from "@relicario/shared/api";
import type { SecretShare, ShareDiscrepancy, ShareSummary } from "@relicario/shared/contract";
import { PortalError } from "@relicario/shared/errors";

import { readAccount, requireRow } from "../keyring/read-account.ts";
import { refreshKeyring } from "../keyring/refresh-keyring.ts";
import type { AccountRow } from "../session/list-cache.ts";
import type { OperationOptions } from "../session/operation-options.ts";
import type { VaultSession } from "../session/vault-session.ts";
import { reconcileUnconfirmedShares } from "./unconfirmed-shares.ts";
import { isLiveShare, toShareSummary, type ShareEntry } from "../keyring/shares-document.ts";

/** Tolerated difference between the clocks of service and device, in milliseconds. */
const clockToleranceMilliseconds = 60 * 60 * 1000;

/** Lists the shares in the sealed document alone, newest first. Empty while locked. */
export async function listShares(vault: VaultSession): Promise<ShareSummary[]> {
  if (vault.keys === null) return [];
  const openedKeyring = (await refreshKeyring(vault))?.openedKeyring;
  return sortNewestFirst((openedKeyring?.shares.shares ?? []).map(toShareSummary));
}

/**
 * Lists the shares of one secret. Views, limits and openings are claims of the service. Its other
 * claims are compared with the sealed document, and a difference is a `discrepancy`.
 *
 * @throws PortalError `not_found`, `vault_locked`
 */
export async function listSharesOfSecret(
  vault: VaultSession,
  secretId: string,
  options: OperationOptions & { readonly includeEnded?: boolean } = {},
): Promise<SecretShare[]> {
  if (!Id.safeParse(secretId).success) throw new PortalError("not_found");
  await reconcileUnconfirmedShares(vault);
  const initialShares = await readShares(vault, secretId, options);
  // another device may have written between the two calls
  const shares = initialShares.some(({ discrepancy }) => discrepancy !== null)
    ? await readShares(vault, secretId, options)
    : initialShares;
  return sortNewestFirst(
    options.includeEnded === true
      ? shares
      : shares.filter(({ state, discrepancy }) => state === "live" || discrepancy !== null),
  );
}

async function readShares(vault: VaultSession, secretId: string, { signal }: OperationOptions): Promise<SecretShare[]> {
  const servedShares = await vault.service.shares.listOfSecret(secretId, signal);
  const account = await readAccount(vault, signal);
  const { openedKeyring, row } = requireRow(account, secretId);
  const entries = openedKeyring.shares.shares.filter((entry) => entry.secret_id === secretId);
  const unlistedShares = servedShares.filter(
    (servedShare) => !openedKeyring.shares.shares.some((entry) => entry.share_id === servedShare.share_id),
  );
  const listedShares = entries.map((entry) => {
    const servedShare = servedShares.find(({ share_id: id }) => id === entry.share_id) ?? null;
    return toSecretShare(vault, entry, servedShare, row, findDiscrepancy(vault, entry, servedShare));
  });
  return [
    ...listedShares,
    ...unlistedShares.map((servedShare) => toSecretShare(vault, null, servedShare, row, "unknown")),
  ];
}

/**
 * Compares a served share with its entry. Accepts ends that the document cannot show: views used
 * up, too many wrong passwords, or the end of its secret or version. A locked device ends shares
 * that way without a mark, and restoring the secret from the trash does not restore them.
 */
function findDiscrepancy(
  { now }: VaultSession,
  entry: ShareEntry,
  servedShare: OwnShare | null,
): ShareDiscrepancy | null {
  const isStillLive = isLiveShare(entry, now());
  if (servedShare === null) return isStillLive ? "hidden" : null;
  if (entry.revoked_at !== null) return servedShare.end === null ? "still_served" : null;
  if (
    servedShare.secret_db_id !== entry.secret_id ||
    servedShare.version !== entry.version ||
    servedShare.ticket_sha256 !== entry.ticket_sha256 ||
    servedShare.audience !== entry.audience ||
    servedShare.expires_at !== entry.expires_at
  )
    return "changed";
  if (!isStillLive) return null;
  if (servedShare.end === "expired")
    return Date.parse(entry.expires_at) - now() > clockToleranceMilliseconds ? "changed" : null;
  return servedShare.end === "revoked" ? "not_revoked_here" : null;
}

function toSecretShare(
  { now }: VaultSession,
  entry: ShareEntry | null,
  servedShare: OwnShare | null,
  row: AccountRow,
  discrepancy: ShareDiscrepancy | null,
): SecretShare {
  const summary = entry === null ? toUnlistedSummary(servedShare) : toShareSummary(entry);
  return {
    ...summary,
    person:
      servedShare?.recipient == null
        ? null
        : { userId: servedShare.recipient.user_id, userName: servedShare.recipient.user_name },
    hasPassword: servedShare?.password ?? false,
    hasPicture: servedShare?.picture ?? false,
    views: servedShare?.views ?? 0,
    maxViews: servedShare?.max_views ?? null,
    lastOpenedAt: servedShare?.last_opened_at ?? null,
    state:
      summary.revokedAt !== null
        ? "revoked"
        : (servedShare?.end ?? (Date.parse(summary.expiresAt) > now() ? "live" : "expired")),
    outdated: summary.version < row.version,
    discrepancy,
  };
}

/** Describes a share that only the service lists. */
function toUnlistedSummary(servedShare: OwnShare | null): ShareSummary {
  if (servedShare === null) throw new TypeError("expected an entry or a served share");
  const {
    share_id: shareId,
    secret_db_id: secretId,
    version,
    audience,
    created_at: createdAt,
    expires_at: expiresAt,
  } = servedShare;
  return { shareId, secretId, version, audience, createdAt, expiresAt, revokedAt: null };
}

function sortNewestFirst<T extends ShareSummary>(shares: readonly T[]): T[] {
  return shares.toSorted((left, right) => (left.createdAt < right.createdAt ? 1 : -1));
}
