import { and, eq, inArray, isNull, sql, type SQL } from "drizzle-orm";

import type { Tx } from "../db/database.ts";
import { shares } from "../db/schema.ts";
import type { RemovedContents } from "../resource/resource.ts";

const notEndedCondition = and(isNull(shares.endedAt), isNull(shares.revokedAt));

/** Ends shares of these contents. @returns the freed bytes */
export function endSharesOfContents(
  tx: Tx,
  accountId: string,
  removedContents: RemovedContents,
  now: Date,
): Promise<number> {
  const contentCondition =
    "pairs" in removedContents
      ? sql`(${shares.secretId}, ${shares.version}) in (${removedContents.pairs})`
      : and(
          inArray(shares.secretId, [...removedContents.secretIds]),
          removedContents.versions === undefined ? undefined : inArray(shares.version, [...removedContents.versions]),
        );
  return dropTickets(tx, accountId, and(contentCondition, notEndedCondition), { endedAt: now });
}

/** @returns the freed bytes. */
export function endAllShares(tx: Tx, accountId: string, now: Date): Promise<number> {
  return dropTickets(tx, accountId, notEndedCondition, { endedAt: now });
}

/** Idempotent. @returns the freed bytes */
export function revokeShare(tx: Tx, accountId: string, shareId: string, now: Date): Promise<number> {
  return dropTickets(tx, accountId, and(eq(shares.shareId, shareId), notEndedCondition), { revokedAt: now });
}

/** Drops ticket and helper of shares, which cannot be opened again. @returns the freed bytes */
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
