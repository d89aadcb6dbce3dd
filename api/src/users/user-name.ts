import { and, eq, isNotNull, lte, sql } from "drizzle-orm";

import type { Db, Tx } from "../db/database.ts";
import { userNames } from "../db/schema.ts";
import { deleteInBatches, type Sweeping } from "../operations/sweeping.ts";

/** So long a name that somebody gave up is nobody's: else a stranger could pass for them with those who remember it. */
const restDays = 90;

interface Name {
  readonly vendorId: string;
  readonly name: string;
}

/** Names with one key are the same name. Those from before names were ASCII are kept by their normal form. */
export function nameKeyOf(userName: string): string {
  return userName.normalize("NFKC").toLowerCase();
}

/** Takes a name that is nobody's, or that the account itself gave up. @returns false when somebody has it, or had it not long ago. */
export async function claimUserName(tx: Tx, { vendorId, name }: Name, accountId: string, now: Date): Promise<boolean> {
  const itsOwn = sql`${userNames.accountId} = ${accountId} and ${isNotNull(userNames.releasedAt)}`;
  const claimed = await tx
    .insert(userNames)
    .values({ vendorId, nameKey: nameKeyOf(name), accountId })
    .onConflictDoUpdate({
      target: [userNames.vendorId, userNames.nameKey],
      set: { accountId, releasedAt: null },
      setWhere: sql`${lte(userNames.releasedAt, restedBy(now))} or ${itsOwn}`,
    })
    .returning({ nameKey: userNames.nameKey });
  return claimed.length === 1;
}

/** Gives a name up; it rests from now on. */
export async function releaseUserName(tx: Tx, { vendorId, name }: Name, now: Date): Promise<void> {
  await tx
    .update(userNames)
    .set({ releasedAt: now })
    .where(and(eq(userNames.vendorId, vendorId), eq(userNames.nameKey, nameKeyOf(name))));
}

/** Forgets names that have rested, and who had them. */
export async function dropRestedNames(db: Db, sweeping: Sweeping): Promise<void> {
  const { vendorId, nameKey, releasedAt } = userNames;
  await deleteInBatches(sweeping, (rows) => {
    const some = db.select({ vendorId, nameKey }).from(userNames).where(lte(releasedAt, restedBy(sweeping.now))).limit(rows);
    return db.delete(userNames).where(sql`(${vendorId}, ${nameKey}) in ${some}`);
  });
}

function restedBy(now: Date): Date {
  return new Date(now.getTime() - restDays * 86_400_000);
}
