import { and, eq, isNotNull, isNull, lte, ne, or } from "drizzle-orm";

import { accounts } from "../db/schema.ts";
import { forEachDue, type SweepContext } from "../resource/sweep-context.ts";
import type { Services } from "../services/services.ts";

/**
 * Queues a mail for each account whose check of a copy is due, one for each due time that a device
 * reported.
 */
export function remindOfCopyChecks(
  { db, mailer }: Pick<Services, "db" | "mailer">,
  context: SweepContext,
): Promise<void> {
  const { now } = context;
  const dueCondition = and(
    isNotNull(accounts.copyCheckDueAt),
    lte(accounts.copyCheckDueAt, now),
    or(isNull(accounts.copyCheckMailFor), ne(accounts.copyCheckMailFor, accounts.copyCheckDueAt)),
  );
  return forEachDue(db, context, { id: accounts.id }, dueCondition, ({ id }) =>
    db.transaction(async (tx) => {
      const updatedRows = await tx
        .update(accounts)
        .set({ copyCheckMailFor: accounts.copyCheckDueAt })
        .where(and(eq(accounts.id, id), dueCondition))
        .returning({ id: accounts.id });
      if (updatedRows.length > 0) await mailer.queue(tx, id, "rehearsal_due", { now });
    }),
  );
}
