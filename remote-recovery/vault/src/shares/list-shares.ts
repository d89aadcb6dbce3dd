import { Id, type OwnShare } from "@relicario/shared/api";
import type { SecretShare, ShareDiscrepancy, ShareSummary } from "@relicario/shared/contract";
import { PortalError } from "@relicario/shared/errors";

import { readAccount, requireRow } from "../keyring/read-account.ts";
import { refreshKeyring } from "../keyring/refresh-keyring.ts";
import type { AccountRow } from "../session/list-cache.ts";
import type { OperationOptions } from "../session/operation-options.ts";
import type { VaultSession } from "../session/vault-session.ts";
import { reconcileUnconfirmedShares } from "./unconfirmed-shares.ts";
import { isLive, toShareSummary, type ShareEntry } from "../keyring/shares-document.ts";

/** So far apart the service's clock and this one may be; milliseconds. */
const clockTolerance = 60 * 60 * 1000;

/** From the sealed document alone, the newest first. Empty while locked. */
export async function listShares(vault: VaultSession): Promise<ShareSummary[]> {
  if (vault.keys === null) return [];
  const openedKeyring = (await refreshKeyring(vault))?.openedKeyring;
  return newestFirst((openedKeyring?.shares.shares ?? []).map(toShareSummary));
}

/**
 * Those of one secret. Views, limits and what was opened are the service's word; what it says
 * beside that is compared with the sealed document, and what does not fit is a doubt.
 *
 * @throws PortalError `not_found`, `vault_locked`.
 */
export async function listSharesOfSecret(
  vault: VaultSession,
  secretId: string,
  options: OperationOptions & { readonly includeEnded?: boolean } = {},
): Promise<SecretShare[]> {
  if (!Id.safeParse(secretId).success) throw new PortalError("not_found");
  await reconcileUnconfirmedShares(vault);
  const initialShares = await readShares(vault, secretId, options);
  // another device may have written in between
  const shares = initialShares.some(({ discrepancy }) => discrepancy !== null)
    ? await readShares(vault, secretId, options)
    : initialShares;
  return newestFirst(
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
  const unlisted = servedShares.filter(
    (served) => !openedKeyring.shares.shares.some((entry) => entry.share_id === served.share_id),
  );
  const listed = entries.map((entry) => {
    const served = servedShares.find(({ share_id: id }) => id === entry.share_id) ?? null;
    return toSecretShare(vault, entry, served, row, doubtOf(vault, entry, served));
  });
  return [...listed, ...unlisted.map((served) => toSecretShare(vault, null, served, row, "unknown"))];
}

/**
 * What the service says against the document. What nobody can check is believed: used up, too many
 * wrong passwords, or ended with its secret or version, which a locked device does without a mark,
 * and which a way back out of the trash does not undo.
 */
function doubtOf({ now }: VaultSession, entry: ShareEntry, served: OwnShare | null): ShareDiscrepancy | null {
  const live = isLive(entry, now());
  if (served === null) return live ? "hidden" : null;
  if (entry.revoked_at !== null) return served.end === null ? "still_served" : null;
  if (
    served.secret_db_id !== entry.secret_id ||
    served.version !== entry.version ||
    served.ticket_sha256 !== entry.ticket_sha256 ||
    served.audience !== entry.audience ||
    served.expires_at !== entry.expires_at
  )
    return "changed";
  if (!live) return null;
  if (served.end === "expired") return Date.parse(entry.expires_at) - now() > clockTolerance ? "changed" : null;
  return served.end === "revoked" ? "not_revoked_here" : null;
}

function toSecretShare(
  { now }: VaultSession,
  entry: ShareEntry | null,
  served: OwnShare | null,
  row: AccountRow,
  discrepancy: ShareDiscrepancy | null,
): SecretShare {
  const mark = entry === null ? toUnlistedSummary(served) : toShareSummary(entry);
  return {
    ...mark,
    person:
      served?.recipient == null ? null : { userId: served.recipient.user_id, userName: served.recipient.user_name },
    hasPassword: served?.password ?? false,
    hasPicture: served?.picture ?? false,
    views: served?.views ?? 0,
    maxViews: served?.max_views ?? null,
    lastOpenedAt: served?.last_opened_at ?? null,
    state:
      mark.revokedAt !== null ? "revoked" : (served?.end ?? (Date.parse(mark.expiresAt) > now() ? "live" : "expired")),
    outdated: mark.version < row.version,
    discrepancy,
  };
}

/** Of a share that only the service names. */
function toUnlistedSummary(served: OwnShare | null): ShareSummary {
  if (served === null) throw new TypeError("a share that nobody names");
  const {
    share_id: shareId,
    secret_db_id: secretId,
    version,
    audience,
    created_at: createdAt,
    expires_at: expiresAt,
  } = served;
  return { shareId, secretId, version, audience, createdAt, expiresAt, revokedAt: null };
}

function newestFirst<T extends ShareSummary>(shares: readonly T[]): T[] {
  return shares.toSorted((left, right) => (left.createdAt < right.createdAt ? 1 : -1));
}
