import { maxWrongPasswords, type OwnShare } from "@relicario/shared/api";
import {
  aliasedTable,
  and,
  count,
  desc,
  eq,
  gt,
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
import { accounts, activity, shareRecipients, shares } from "../db/schema.ts";

export type ShareRow = typeof shares.$inferSelect;
/** One that is not over for good. */
export type ShareWithTicket = ShareRow & { readonly ticket: Buffer };

/** Its account, as far as strangers are concerned with it. */
export interface ShareOwner {
  readonly id: string;
  readonly userName: string;
  readonly vendorId: string;
  /** Since when the operator keeps it closed, and with it all that it shares. */
  readonly lockedAt: Date | null;
}

const ownerColumns = {
  id: accounts.id,
  userName: accounts.userName,
  vendorId: accounts.vendorId,
  lockedAt: accounts.lockedAt,
};

/** Why a share can no longer be opened; null while it can. What its owner did comes first. */
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

/** {@link getEndReason} is null, for the database. */
export function isOpenable(now: Date | Placeholder): SQL | undefined {
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
  const [row] = await db.select().from(shares).where(isShare(ownerId, shareId));
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
    .where(isShare(ownerId, shareId));
  return row ?? null;
}

/** Those of one secret, newest first. */
export function listShares(
  db: Db,
  { accountId }: AccountScope,
  secretId: string,
  { ended: includeEnded, now }: { ended: boolean; now: Date },
): Promise<{ share: ShareRow; recipientName: string | null }[]> {
  return db
    .select({ share: shares, recipientName: accounts.userName })
    .from(shares)
    .leftJoin(accounts, eq(accounts.id, shares.recipientId))
    .where(
      and(eq(shares.accountId, accountId), eq(shares.secretId, secretId), includeEnded ? undefined : isOpenable(now)),
    )
    .orderBy(desc(shares.createdAt), desc(shares.shareId));
}

export async function countLiveShares(db: Db | Tx, accountId: string, now: Date): Promise<number> {
  const [total] = await db
    .select({ rows: count() })
    .from(shares)
    .where(and(eq(shares.accountId, accountId), isOpenable(now)));
  return total?.rows ?? 0;
}

/** Newest of these, so many at most: others decide how many there are. */
const maxReceivedShares = 1_000;

export interface ReceivedShareRow {
  readonly share: ShareRow;
  readonly owner: ShareOwner;
  readonly openedAt: Date | null;
}

/** What was shared with this account, or opened by it through a link, newest first. */
export function listReceived(
  db: Db,
  { accountId }: AccountScope,
  { ended: includeEnded, now }: { ended: boolean; now: Date },
): Promise<ReceivedShareRow[]> {
  const received = aliasedTable(shareRecipients, "given");
  return db
    .select({ share: shares, owner: ownerColumns, openedAt: received.openedAt })
    .from(received)
    .innerJoin(shares, and(eq(shares.accountId, received.ownerId), eq(shares.shareId, received.shareId)))
    .innerJoin(accounts, eq(accounts.id, shares.accountId))
    .where(
      and(
        eq(received.accountId, accountId),
        includeEnded ? undefined : and(isOpenable(now), isNull(accounts.lockedAt)),
      ),
    )
    .orderBy(desc(received.addedAt), desc(received.shareId))
    .limit(maxReceivedShares);
}

/**
 * Counts a wrong password. @returns the tries that are left; null when it can no longer be opened.
 */
export async function countWrongPassword(db: Db, { accountId, shareId }: ShareRow, now: Date): Promise<number | null> {
  const [row] = await db
    .update(shares)
    .set({ wrongPasswords: sql`${shares.wrongPasswords} + 1` })
    .where(and(isShare(accountId, shareId), isOpenable(now)))
    .returning({ wrongPasswords: shares.wrongPasswords });
  return row === undefined ? null : maxWrongPasswords - row.wrongPasswords;
}

/** One view, on this row alone. @returns the share as it is then; null when no view is left. */
export async function consumeView(
  tx: Tx,
  { accountId, shareId }: Pick<ShareRow, "accountId" | "shareId">,
  now: Date,
): Promise<ShareRow | null> {
  const [row] = await tx
    .with(buildOpenedActivityInsert(tx, { accountId, shareId }, now))
    .update(shares)
    .set({ views: sql`${shares.views} + 1`, lastOpenedAt: now })
    .where(and(isShare(accountId, shareId), isOpenable(now)))
    .returning();
  return row ?? null;
}

/**
 * Openings of one share that are all noted; of later ones only those are that follow none within an
 * hour: anybody who has a link may open it.
 */
const alwaysRecordedOpenings = 20;

/** As a part of the statement that takes the view: it looks at the row as that was before. */
function buildOpenedActivityInsert(tx: Tx, { accountId, shareId }: Pick<ShareRow, "accountId" | "shareId">, now: Date) {
  const isRecorded = or(
    lt(shares.views, alwaysRecordedOpenings),
    lt(shares.lastOpenedAt, new Date(now.getTime() - 3_600_000)),
  );
  const openedEvent = tx
    .select({
      accountId: shares.accountId,
      id: sql<string>`${uuidv7({ msecs: now.getTime() })}::uuid`.as("id"),
      kind: sql<string>`'share_opened'`.as("kind"),
      count: sql<number>`1`.as("count"),
      secret: sql<string>`right(${shares.secretId}::text, 8)`.as("secret"),
      device: sql<null>`null`.as("device"),
      address: sql<null>`null`.as("address"),
      at: sql<Date>`${now.toISOString()}::timestamptz`.as("at"),
    })
    .from(shares)
    .where(and(isShare(accountId, shareId), isRecorded));
  return tx.$with("activity_event").as(tx.insert(activity).select(openedEvent));
}

/** It is in the recipient's list, and was opened there; the first opening counts. */
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

export const isShare = (accountId: string, shareId: string): SQL | undefined =>
  and(eq(shares.accountId, accountId), eq(shares.shareId, shareId));
