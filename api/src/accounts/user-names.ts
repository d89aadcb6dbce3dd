import { UserName, type userNameRejections } from "@relicario/shared/api";
import { and, eq, isNotNull, lte, sql } from "drizzle-orm";

import type { Actor } from "../auth/actor.ts";
import type { Db, Tx } from "../db/database.ts";
import { userNames } from "../db/schema.ts";
import { Problem } from "../http/problem.ts";
import { deleteInBatches, type SweepContext } from "../resource/sweep-context.ts";

/**
 * How long a released name stays reserved, so that a stranger cannot impersonate its former owner.
 */
const quarantineDays = 90;

interface VendorUserName {
  readonly vendorId: string;
  readonly name: string;
}

/** Returns a key that equal names share. NFKC is for old names: new names are ASCII. */
export function toNameKey(userName: string): string {
  return userName.normalize("NFKC").toLowerCase();
}

/**
 * Claims a free name, or one that this account released. @returns false when it is taken or still
 * reserved for its former owner
 */
export async function claimUserName(
  tx: Tx,
  { vendorId, name }: VendorUserName,
  accountId: string,
  now: Date,
): Promise<boolean> {
  const ownReleasedCondition = sql`${userNames.accountId} = ${accountId} and ${isNotNull(userNames.releasedAt)}`;
  const claimed = await tx
    .insert(userNames)
    .values({ vendorId, nameKey: toNameKey(name), accountId })
    .onConflictDoUpdate({
      target: [userNames.vendorId, userNames.nameKey],
      set: { accountId, releasedAt: null },
      setWhere: sql`${lte(userNames.releasedAt, getQuarantineCutoff(now))} or ${ownReleasedCondition}`,
    })
    .returning({ nameKey: userNames.nameKey });
  return claimed.length === 1;
}

/**
 * Checks that the account could claim the name now; reserves nothing.
 *
 * @throws Problem `validation_error` with the reason `malformed` or `taken`.
 */
export async function requireAvailableName(
  db: Db,
  { accountId, vendorId }: Pick<Actor, "accountId" | "vendorId">,
  name: string,
  now: Date,
): Promise<void> {
  if (!UserName.safeParse(name).success) throw createNameProblem("malformed");
  const [nameRow] = await db
    .select({ accountId: userNames.accountId, releasedAt: userNames.releasedAt })
    .from(userNames)
    .where(and(eq(userNames.vendorId, vendorId), eq(userNames.nameKey, toNameKey(name))));
  if (nameRow === undefined || nameRow.accountId === accountId) return;
  if (nameRow.releasedAt === null || nameRow.releasedAt > getQuarantineCutoff(now)) throw createNameProblem("taken");
}

function createNameProblem(reason: (typeof userNameRejections)[number]): Problem {
  return new Problem("validation_error", { members: { errors: [{ path: "/username", reason }] } });
}

/** Releases a name; it stays reserved for {@link quarantineDays}. */
export async function releaseUserName(tx: Tx, { vendorId, name }: VendorUserName, now: Date): Promise<void> {
  await tx
    .update(userNames)
    .set({ releasedAt: now })
    .where(and(eq(userNames.vendorId, vendorId), eq(userNames.nameKey, toNameKey(name))));
}

/** Deletes the rows of released names after {@link quarantineDays}. */
export async function deleteReleasedNames({ db }: { readonly db: Db }, context: SweepContext): Promise<void> {
  const { vendorId, nameKey, releasedAt } = userNames;
  await deleteInBatches(context, (batchSize) => {
    const batch = db
      .select({ vendorId, nameKey })
      .from(userNames)
      .where(lte(releasedAt, getQuarantineCutoff(context.now)))
      .limit(batchSize);
    return db.delete(userNames).where(sql`(${vendorId}, ${nameKey}) in ${batch}`);
  });
}

function getQuarantineCutoff(now: Date): Date {
  return new Date(now.getTime() - quarantineDays * 86_400_000);
}
