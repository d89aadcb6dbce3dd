import { and, eq, inArray, isNull, sql, type SQL } from "drizzle-orm";

import type { Tx } from "../db/database.ts";
import { shares } from "../db/schema.ts";
import type { EndedContents } from "../resource/resource.ts";

const isNotEnded = and(isNull(shares.endedAt), isNull(shares.revokedAt));

/** Ends what these contents showed to others. @returns the bytes that became free. */
export function endSharesOf(tx: Tx, accountId: string, ended: EndedContents, now: Date): Promise<number> {
  const isSelected =
    "pairs" in ended
      ? sql`(${shares.secretId}, ${shares.version}) in (${ended.pairs})`
      : and(
          inArray(shares.secretId, [...ended.secretIds]),
          ended.versions === undefined ? undefined : inArray(shares.version, [...ended.versions]),
        );
  return dropTickets(tx, accountId, and(isSelected, isNotEnded), { endedAt: now });
}

/** Everything that this account shows to others ends. @returns the bytes that became free. */
export function endAllShares(tx: Tx, accountId: string, now: Date): Promise<number> {
  return dropTickets(tx, accountId, isNotEnded, { endedAt: now });
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
  const endedShares = await tx
    .select({
      shareId: shares.shareId,
      bytes: sql<number>`coalesce(octet_length(${shares.ticket}), 0) + coalesce(octet_length(${shares.shareHelper}), 0)`,
    })
    .from(shares)
    .where(and(eq(shares.accountId, accountId), condition))
    .for("update");
  if (endedShares.length === 0) return 0;
  const ids = endedShares.map(({ shareId }) => shareId);
  await tx
    .update(shares)
    .set({ ...values, ticket: null, shareHelper: null })
    .where(and(eq(shares.accountId, accountId), inArray(shares.shareId, ids)));
  return endedShares.reduce((sum, { bytes }) => sum + bytes, 0);
}
