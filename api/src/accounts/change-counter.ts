import { eq, sql } from "drizzle-orm";

import { buildActivityInsert, type TimedActivityEvent } from "../activity/record-activity.ts";
import type { Tx } from "../db/database.ts";
import { accounts } from "../db/schema.ts";

/**
 * Returns the new value of the account's change counter, for the rows that the transaction changes.
 */
export async function incrementChangeCounter(tx: Tx, accountId: string, event?: TimedActivityEvent): Promise<number> {
  const [row] = await (event === undefined ? tx : tx.with(buildActivityInsert(tx, accountId, event)))
    .update(accounts)
    .set({ changes: sql`${accounts.changes} + 1` })
    .where(eq(accounts.id, accountId))
    .returning({ changes: accounts.changes });
  if (row === undefined) throw new Error("the session's account does not exist");
  return row.changes;
}
