import { and, eq, gt, isNotNull, isNull, lte, ne, or } from "drizzle-orm";

import { accounts } from "../db/schema.ts";
import { forEachItem, type SweepContext } from "../resource/sweep-context.ts";
import type { Services } from "../services/services.ts";

/**
 * Queues a mail for each account whose rehearsal is due: one for each due time, so that it is not
 * said again until a device names another.
 */
export function remindOfCopyChecks(
  { db, mailer }: Pick<Services, "db" | "mailer">,
  context: SweepContext,
): Promise<void> {
  const { now } = context;
  const isDue = and(
    isNotNull(accounts.rehearsalDueAt),
    lte(accounts.rehearsalDueAt, now),
    or(isNull(accounts.rehearsalMailFor), ne(accounts.rehearsalMailFor, accounts.rehearsalDueAt)),
  );
  return forEachItem<{ id: string }>(
    context,
    (last, pageSize) =>
      db
        .select({ id: accounts.id })
        .from(accounts)
        .where(last === null ? isDue : and(isDue, gt(accounts.id, last.id)))
        .orderBy(accounts.id)
        .limit(pageSize),
    ({ id }) =>
      db.transaction(async (tx) => {
        const reminded = await tx
          .update(accounts)
          .set({ rehearsalMailFor: accounts.rehearsalDueAt })
          .where(and(eq(accounts.id, id), isDue))
          .returning({ id: accounts.id });
        if (reminded.length > 0) await mailer.queue(tx, id, "rehearsal_due", { now });
      }),
  );
}
