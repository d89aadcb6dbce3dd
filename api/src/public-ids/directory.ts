import { and, eq } from "drizzle-orm";

import type { Db, Tx } from "../db/database.ts";
import { publicIds } from "../db/schema.ts";
import { Problem } from "../http/problem.ts";

export type PublicIdRow = typeof publicIds.$inferInsert;

/**
 * Nobody's: asked for where there is no owner, so that an unknown id is looked for like any other.
 */
export const unknownAccountId = "00000000-0000-0000-0000-000000000000";

/**
 * What an id is made for enters the directory in the transaction that makes it, so that neither is
 * there without the other.
 *
 * @param publicId 128 random bits in base64url, made by the client
 * @throws Problem `id_taken` when it stands for anything already; the transaction must not go on.
 */
export async function registerPublicId(tx: Tx, row: PublicIdRow): Promise<void> {
  const inserted = await tx
    .insert(publicIds)
    .values(row)
    .onConflictDoNothing()
    .returning({ publicId: publicIds.publicId });
  if (inserted.length === 0) throw new Problem("id_taken");
}

/** The account whose rows hold it; null when there is no such id, or it is of another kind. */
export async function findOwnerId(db: Db | Tx, kind: PublicIdRow["kind"], publicId: string): Promise<string | null> {
  const [row] = await db
    .select({ accountId: publicIds.accountId })
    .from(publicIds)
    .where(and(eq(publicIds.publicId, publicId), eq(publicIds.kind, kind)));
  return row?.accountId ?? null;
}

/**
 * In the transaction that removes the owner's row; nothing happens when it is gone, or another's.
 */
export async function releasePublicId(tx: Tx, accountId: string, publicId: string): Promise<void> {
  await tx.delete(publicIds).where(and(eq(publicIds.publicId, publicId), eq(publicIds.accountId, accountId)));
}
