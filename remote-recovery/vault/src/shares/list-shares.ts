import { Id, type OwnShare } from "@relicario/shared/api";
import type { SecretShare, ShareDoubt, ShareMark } from "@relicario/shared/contract";
import { PortalError } from "@relicario/shared/errors";

import { readAccount, requireRow } from "../steps/read-account.ts";
import { readKeyring } from "../steps/read-keyring.ts";
import type { AccountRow, ActOptions, VaultContext } from "../vault-context.ts";
import { settleNewShares } from "./new-shares.ts";
import { isLive, presentMark, type ShareEntry } from "./shares-document.ts";

/** So far apart the service's clock and this one may be; milliseconds. */
const clockTolerance = 60 * 60 * 1000;

/** From the sealed document alone, the newest first. Empty while locked. */
export async function allShares(vault: VaultContext): Promise<ShareMark[]> {
  if (vault.keys === null) return [];
  const opened = (await readKeyring(vault))?.opened;
  return newestFirst((opened?.shares.shares ?? []).map(presentMark));
}

/**
 * Those of one secret. Views, limits and what was opened are the service's word; what it says
 * beside that is compared with the sealed document, and what does not fit is a doubt.
 *
 * @throws PortalError `not_found`, `vault_locked`.
 */
export async function sharesOfSecret(
  vault: VaultContext,
  secretId: string,
  options: ActOptions & { readonly ended?: boolean } = {},
): Promise<SecretShare[]> {
  if (!Id.safeParse(secretId).success) throw new PortalError("not_found");
  await settleNewShares(vault);
  const first = await readOnce(vault, secretId, options);
  // another device may have written in between
  const shares = first.some(({ doubt }) => doubt !== null) ? await readOnce(vault, secretId, options) : first;
  return newestFirst(
    options.ended === true ? shares : shares.filter(({ state, doubt }) => state === "live" || doubt !== null),
  );
}

async function readOnce(vault: VaultContext, secretId: string, { signal }: ActOptions): Promise<SecretShare[]> {
  const told = await vault.service.shares.ofSecret(secretId, signal);
  const account = await readAccount(vault, signal);
  const { opened, row } = requireRow(account, secretId);
  const entries = opened.shares.shares.filter((entry) => entry.secret_id === secretId);
  const unknown = told.filter((one) => !opened.shares.shares.some((entry) => entry.share_id === one.share_id));
  const known = entries.map((entry) => {
    const one = told.find(({ share_id: id }) => id === entry.share_id) ?? null;
    return present(vault, entry, one, row, doubtOf(vault, entry, one));
  });
  return [...known, ...unknown.map((one) => present(vault, null, one, row, "unknown"))];
}

/**
 * What the service says against the document. What nobody can check is believed: used up, too many
 * wrong passwords, or ended with its secret or version, which a locked device does without a mark,
 * and which a way back out of the trash does not undo.
 */
function doubtOf({ now }: VaultContext, entry: ShareEntry, told: OwnShare | null): ShareDoubt | null {
  const live = isLive(entry, now());
  if (told === null) return live ? "hidden" : null;
  if (entry.revoked_at !== null) return told.end === null ? "still_served" : null;
  if (
    told.secret_db_id !== entry.secret_id ||
    told.version !== entry.version ||
    told.ticket_sha256 !== entry.ticket_sha256 ||
    told.audience !== entry.audience ||
    told.expires_at !== entry.expires_at
  )
    return "changed";
  if (!live) return null;
  if (told.end === "expired") return Date.parse(entry.expires_at) - now() > clockTolerance ? "changed" : null;
  return told.end === "revoked" ? "not_revoked_here" : null;
}

function present(
  { now }: VaultContext,
  entry: ShareEntry | null,
  told: OwnShare | null,
  row: AccountRow,
  doubt: ShareDoubt | null,
): SecretShare {
  const mark = entry === null ? markOf(told) : presentMark(entry);
  return {
    ...mark,
    person: told?.recipient == null ? null : { userId: told.recipient.user_id, userName: told.recipient.user_name },
    password: told?.password ?? false,
    picture: told?.picture ?? false,
    views: told?.views ?? 0,
    maxViews: told?.max_views ?? null,
    lastOpenedAt: told?.last_opened_at ?? null,
    state:
      mark.revokedAt !== null ? "revoked" : (told?.end ?? (Date.parse(mark.expiresAt) > now() ? "live" : "expired")),
    outdated: mark.version < row.version,
    doubt,
  };
}

/** Of a share that only the service names. */
function markOf(told: OwnShare | null): ShareMark {
  if (told === null) throw new TypeError("a share that nobody names");
  const {
    share_id: shareId,
    secret_db_id: secretId,
    version,
    audience,
    created_at: createdAt,
    expires_at: expiresAt,
  } = told;
  return { shareId, secretId, version, audience, createdAt, expiresAt, revokedAt: null };
}

function newestFirst<T extends ShareMark>(shares: readonly T[]): T[] {
  return shares.toSorted((left, right) => (left.createdAt < right.createdAt ? 1 : -1));
}
