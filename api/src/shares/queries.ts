import { maxWrongPasswords, type OwnShare, type PageQuery } from "@relicario/shared/api";
import {
  and,
  count,
  desc,
  eq,
  gt,
  inArray,
  isNotNull,
  isNull,
  lt,
  or,
  sql,
  type Placeholder,
  type SQL,
} from "drizzle-orm";
import { v7 as uuidv7 } from "uuid";

import type { AccountScope } from "../auth/actor.ts";
import type { Db, Tx } from "../db/database.ts";
import { toPage, whereAfter } from "../db/page.ts";
import { accounts, activity, shareRecipients, shares } from "../db/schema.ts";

export type ShareRow = typeof shares.$inferSelect;
/** A share that has not ended for good. */
export type ShareWithTicket = ShareRow & { readonly ticket: Buffer };

/** What strangers may learn of the owner. */
export interface ShareOwner {
  readonly id: string;
  readonly userName: string;
  readonly vendorId: string;
  /** Since when the account is locked, and its shares with it. */
  readonly lockedAt: Date | null;
}

const ownerColumns = {
  id: accounts.id,
  userName: accounts.userName,
  vendorId: accounts.vendorId,
  lockedAt: accounts.lockedAt,
};

/** Why a share cannot be opened; null when it can. Actions of its owner take precedence. */
export function getEndReason(
  { revokedAt, endedAt, wrongPasswords, expiresAt, maxViews, views }: ShareRow,
  now: Date,
): OwnShare["end"] {
  if (revokedAt !== null) return "revoked";
  if (endedAt !== null) return "ended";
  if (wrongPasswords >= maxWrongPasswords) return "locked";
  if (expiresAt <= now) return "expired";
  return maxViews !== null && views >= maxViews ? "used_up" : null;
}

/** The SQL of {@link getEndReason} `=== null`. */
export function whereOpenable(now: Date | Placeholder): SQL | undefined {
  return and(
    isNull(shares.revokedAt),
    isNull(shares.endedAt),
    lt(shares.wrongPasswords, maxWrongPasswords),
    gt(shares.expiresAt, now),
    or(isNull(shares.maxViews), lt(shares.views, shares.maxViews)),
    isNotNull(shares.ticket),
  );
}

export async function findShare(db: Db | Tx, ownerId: string, shareId: string): Promise<ShareRow | null> {
  const [row] = await db.select().from(shares).where(whereShare(ownerId, shareId));
  return row ?? null;
}

export async function findShareAndOwner(
  db: Db | Tx,
  ownerId: string,
  shareId: string,
): Promise<{ share: ShareRow; owner: ShareOwner } | null> {
  const [row] = await db
    .select({ share: shares, owner: ownerColumns })
    .from(shares)
    .innerJoin(accounts, eq(accounts.id, shares.accountId))
    .where(whereShare(ownerId, shareId));
  return row ?? null;
}

interface ListOptions extends Pick<PageQuery, "limit" | "cursor"> {
  readonly includeEnded: boolean;
  readonly now: Date;
}

/** Shares of one secret, newest first, and one more than the limit. */
export async function listShares(
  db: Db | Tx,
  { accountId }: AccountScope,
  secretId: string,
  { includeEnded, now, limit, cursor }: ListOptions,
): Promise<{ share: ShareRow; recipientName: string | null }[]> {
  const shareRows = await db
    .select()
    .from(shares)
    .where(
      and(
        eq(shares.accountId, accountId),
        eq(shares.secretId, secretId),
        includeEnded ? undefined : whereOpenable(now),
        whereAfter(shares.createdAt, shares.shareId, cursor),
      ),
    )
    .orderBy(desc(shares.createdAt), desc(shares.shareId))
    .limit(limit + 1);
  const recipientIds = shareRows.flatMap(({ recipientId }) => recipientId ?? []);
  const recipients =
    recipientIds.length === 0
      ? []
      : await db
          .select({ id: accounts.id, userName: accounts.userName })
          .from(accounts)
          .where(inArray(accounts.id, recipientIds));
  const names = new Map(recipients.map(({ id, userName }) => [id, userName]));
  return shareRows.map((share) => ({ share, recipientName: names.get(share.recipientId ?? "") ?? null }));
}

export async function countLiveShares(db: Db | Tx, accountId: string, now: Date): Promise<number> {
  const [total] = await db
    .select({ rows: count() })
    .from(shares)
    .where(and(eq(shares.accountId, accountId), whereOpenable(now)));
  return total?.rows ?? 0;
}

export interface ReceivedShareRow {
  readonly share: ShareRow;
  readonly owner: ShareOwner;
  readonly addedAt: Date;
  readonly openedAt: Date | null;
}

/**
 * Shares with this account and links that it opened, newest first; one more than the limit. Reads
 * on while shares of a page ended, which would hide others.
 */
export async function listReceived(
  db: Db | Tx,
  { accountId }: AccountScope,
  { includeEnded, now, limit, cursor }: ListOptions,
): Promise<ReceivedShareRow[]> {
  const receivedShares: ReceivedShareRow[] = [];
  let nextCursor = cursor ?? null;
  do {
    const rows = await db
      .select()
      .from(shareRecipients)
      .where(
        and(
          eq(shareRecipients.accountId, accountId),
          whereAfter(shareRecipients.addedAt, shareRecipients.shareId, nextCursor ?? undefined),
        ),
      )
      .orderBy(desc(shareRecipients.addedAt), desc(shareRecipients.shareId))
      .limit(limit + 1);
    const page = toPage(rows, limit, ({ addedAt, shareId }) => ({ at: addedAt, id: shareId }));
    receivedShares.push(...(await readReceivedShares(db, page.rows, includeEnded ? null : now)));
    nextCursor = page.nextCursor;
  } while (nextCursor !== null && receivedShares.length <= limit);
  return receivedShares.slice(0, limit + 1);
}

/**
 * In the same order, without those that no longer exist.
 *
 * @param now excludes ended ones, unless null
 */
async function readReceivedShares(
  db: Db | Tx,
  recipients: readonly (typeof shareRecipients.$inferSelect)[],
  now: Date | null,
): Promise<ReceivedShareRow[]> {
  if (recipients.length === 0) return [];
  const rows = await db
    .select({ share: shares, owner: ownerColumns })
    .from(shares)
    .innerJoin(accounts, eq(accounts.id, shares.accountId))
    .where(
      and(
        inArray(shares.accountId, [...new Set(recipients.map(({ ownerId }) => ownerId))]),
        inArray(
          shares.shareId,
          recipients.map(({ shareId }) => shareId),
        ),
        now === null ? undefined : and(whereOpenable(now), isNull(accounts.lockedAt)),
      ),
    );
  const rowsByShare = new Map(rows.map((row) => [`${row.share.accountId}/${row.share.shareId}`, row]));
  return recipients.flatMap(({ ownerId, shareId, addedAt, openedAt }) => {
    const row = rowsByShare.get(`${ownerId}/${shareId}`);
    return row === undefined ? [] : [{ ...row, addedAt, openedAt }];
  });
}

/**
 * Counts a wrong password. @returns the remaining attempts; null when the share can no longer be
 * opened
 */
export async function countWrongPassword(db: Db, { accountId, shareId }: ShareRow, now: Date): Promise<number | null> {
  const [row] = await db
    .update(shares)
    .set({ wrongPasswords: sql`${shares.wrongPasswords} + 1` })
    .where(and(whereShare(accountId, shareId), whereOpenable(now)))
    .returning({ wrongPasswords: shares.wrongPasswords });
  return row === undefined ? null : maxWrongPasswords - row.wrongPasswords;
}

/** Takes a view in one statement. @returns the updated share; null when no view is left */
export async function consumeView(
  tx: Tx,
  { accountId, shareId }: Pick<ShareRow, "accountId" | "shareId">,
  now: Date,
): Promise<ShareRow | null> {
  const [row] = await tx
    .with(buildOpenedActivityInsert(tx, { accountId, shareId }, now))
    .update(shares)
    .set({ views: sql`${shares.views} + 1`, lastOpenedAt: now })
    .where(and(whereShare(accountId, shareId), whereOpenable(now)))
    .returning();
  return row ?? null;
}

/**
 * Number of first openings that are all recorded. Later ones are recorded only after an hour
 * without any, because anyone with the link can cause them.
 */
const alwaysRecordedOpenings = 20;

/** A part of the statement that takes the view; reads the row as it was before. */
function buildOpenedActivityInsert(tx: Tx, { accountId, shareId }: Pick<ShareRow, "accountId" | "shareId">, now: Date) {
  const recordedCondition = or(
    lt(shares.views, alwaysRecordedOpenings),
    lt(shares.lastOpenedAt, new Date(now.getTime() - 3_600_000)),
  );
  const openedEvent = tx
    .select({
      accountId: shares.accountId,
      id: sql<string>`${uuidv7({ msecs: now.getTime() })}::uuid`.as("id"),
      kind: sql<string>`'share_opened'`.as("kind"),
      count: sql<number>`1`.as("count"),
      secretIdSuffix: sql<string>`right(${shares.secretId}::text, 8)`.as("secret"),
      device: sql<null>`null`.as("device"),
      address: sql<null>`null`.as("address"),
      at: sql<Date>`${now.toISOString()}::timestamptz`.as("at"),
    })
    .from(shares)
    .where(and(whereShare(accountId, shareId), recordedCondition));
  return tx.$with("activity_event").as(tx.insert(activity).select(openedEvent));
}

/** Adds the share to the recipient's list, or records its first opening there. */
export async function recordOpening(
  tx: Tx,
  { accountId: ownerId, shareId }: ShareRow,
  recipientId: string,
  now: Date,
): Promise<void> {
  await tx
    .insert(shareRecipients)
    .values({ accountId: recipientId, shareId, ownerId, addedAt: now, openedAt: now })
    .onConflictDoUpdate({
      target: [shareRecipients.accountId, shareRecipients.shareId],
      set: { openedAt: sql`coalesce(${shareRecipients.openedAt}, excluded.opened_at)` },
    });
}

export const whereShare = (accountId: string, shareId: string): SQL | undefined =>
  and(eq(shares.accountId, accountId), eq(shares.shareId, shareId));
