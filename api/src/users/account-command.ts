import { Id } from "@relicario/shared/api";
import { and, eq, isNull } from "drizzle-orm";

import { toNameKey } from "../accounts/user-names.ts";
import { CommandError, runCommand } from "../commands/run-command.ts";
import type { Db, Tx } from "../db/database.ts";
import { accounts, sessions, userNames } from "../db/schema.ts";

/*
 * `pnpm --filter @relicario/api run account lock|unlock <vendor> <user name or id>`, for the
 * operator. Needs only DATABASE_URL; running processes see the change at their next call.
 */

runCommand("account", async (db, [action, vendorId, nameOrId]) => {
  if ((action !== "lock" && action !== "unlock") || vendorId === undefined || nameOrId === undefined) {
    throw new CommandError("usage: account lock|unlock <vendor> <user name or id>", 64);
  }
  const accountId = await findAccountId(db, vendorId, nameOrId);
  if (accountId === null) throw new CommandError("account: no such account of this vendor", 1);
  if (action === "lock") {
    const revokedSessionCount = await db.transaction((tx) => lockAndSignOut(tx, accountId));
    return `${vendorId}: ${accountId} is locked; ${String(revokedSessionCount)} sessions ended`;
  }
  await db.update(accounts).set({ lockedAt: null }).where(eq(accounts.id, accountId));
  return `${vendorId}: ${accountId} is unlocked`;
});

async function findAccountId(db: Db, vendorId: string, nameOrId: string): Promise<string | null> {
  if (Id.safeParse(nameOrId).success) {
    const [account] = await db
      .select({ id: accounts.id })
      .from(accounts)
      .where(and(eq(accounts.id, nameOrId), eq(accounts.vendorId, vendorId)));
    return account?.id ?? null;
  }
  const [nameRow] = await db
    .select({ accountId: userNames.accountId })
    .from(userNames)
    .where(
      and(eq(userNames.vendorId, vendorId), eq(userNames.nameKey, toNameKey(nameOrId)), isNull(userNames.releasedAt)),
    );
  return nameRow?.accountId ?? null;
}

/**
 * Waits for token exchanges ([Note: Exchange and sign-out]), so that none leaves a session behind.
 * @returns the number of revoked sessions
 */
async function lockAndSignOut(tx: Tx, accountId: string): Promise<number> {
  const now = new Date();
  await tx.update(accounts).set({ lockedAt: now }).where(eq(accounts.id, accountId));
  const revokedSessions = await tx
    .update(sessions)
    .set({ revokedAt: now })
    .where(and(eq(sessions.accountId, accountId), isNull(sessions.revokedAt)))
    .returning({ id: sessions.id });
  return revokedSessions.length;
}
