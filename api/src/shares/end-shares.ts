import { and, eq, inArray, isNull, sql, type SQL } from "drizzle-orm";

import type { Tx } from "../db/database.ts";
import { shares } from "../db/schema.ts";

const isNotEnded = and(isNull(shares.endedAt), isNull(shares.revokedAt));

/**
 * What these secrets, or these versions of them, showed to others ends before it goes.
 *
 * @returns the bytes that became free.
 */
export function endSharesOf(
  tx: Tx,
  accountId: string,
  secretIds: readonly string[],
  now: Date,
  versions?: readonly number[],
): Promise<number> {
  const isSelected = and(
    inArray(shares.secretId, [...secretIds]),
    versions === undefined ? undefined : inArray(shares.version, [...versions]),
  );
  return dropTickets(tx, accountId, and(isSelected, isNotEnded), { endedAt: now });
}

/** Everything that this account shows to others ends. @returns the bytes that became free. */
export function endAllShares(tx: Tx, accountId: string, now: Date): Promise<number> {
  return dropTickets(tx, accountId, isNotEnded, { endedAt: now });
}

/**
 * As {@link endSharesOf}, of the pairs of secret and version that a query gives. @returns the bytes
 * that became free.
 */
export function endSharesOfVersions(tx: Tx, accountId: string, versions: SQL, now: Date): Promise<number> {
  return dropTickets(tx, accountId, and(sql`(${shares.secretId}, ${shares.version}) in (${versions})`, isNotEnded), {
    endedAt: now,
  });
}

/**
 * Ends one share at once; nothing happens when it is over for good already. @returns the bytes that
 * became free.
 */
export function revokeShare(tx: Tx, accountId: string, shareId: string, now: Date): Promise<number> {
  return dropTickets(tx, accountId, and(eq(shares.shareId, shareId), isNotEnded), { revokedAt: now });
}

/**
 * Drops ticket and helper of shares of this account: they are over for good. @returns the bytes
 * that became free.
 */
export async function dropTickets(
  tx: Tx,
  accountId: string,
  condition: SQL | undefined,
  values: { readonly endedAt?: Date; readonly revokedAt?: Date } = {},
): Promise<number> {
  const ended = await tx
    .select({
      shareId: shares.shareId,
      bytes: sql<number>`coalesce(octet_length(${shares.ticket}), 0) + coalesce(octet_length(${shares.shareHelper}), 0)`,
    })
    .from(shares)
    .where(and(eq(shares.accountId, accountId), condition))
    .for("update");
  if (ended.length === 0) return 0;
  const ids = ended.map(({ shareId }) => shareId);
  await tx
    .update(shares)
    .set({ ...values, ticket: null, shareHelper: null })
    .where(and(eq(shares.accountId, accountId), inArray(shares.shareId, ids)));
  return ended.reduce((sum, { bytes }) => sum + bytes, 0);
}
