import { deletionGraceDays } from "@relicario/shared/api";
import { and, eq, isNotNull, isNull } from "drizzle-orm";

import { recordActivity } from "../activity/record-activity.ts";
import type { AccountScope } from "../auth/actor.ts";
import type { Tx } from "../db/database.ts";
import { accounts } from "../db/schema.ts";
import type { RequestContext } from "../language/language.ts";
import type { Mailer } from "../mail/mailer.ts";

/**
 * Sets the deletion for 14 days from now; an earlier request keeps its date. The account must be
 * locked.
 */
export async function requestDeletion(
  tx: Tx,
  { accountId }: AccountScope,
  mailer: Mailer,
  context: RequestContext,
): Promise<void> {
  const deletionDueAt = new Date(context.now.getTime() + deletionGraceDays * 86_400_000);
  const updatedRows = await tx
    .update(accounts)
    .set({ deletionDueAt })
    .where(and(eq(accounts.id, accountId), isNull(accounts.deletionDueAt)))
    .returning({ id: accounts.id });
  if (updatedRows.length === 0) return;
  await mailer.queue(tx, accountId, "deletion_asked", context);
  await recordActivity(tx, accountId, [{ kind: "deletion_asked" }], context.now);
}

/** Idempotent. The account must be locked. */
export async function cancelDeletion(
  tx: Tx,
  { accountId }: AccountScope,
  mailer: Mailer,
  context: RequestContext,
): Promise<void> {
  const updatedRows = await tx
    .update(accounts)
    .set({ deletionDueAt: null })
    .where(and(eq(accounts.id, accountId), isNotNull(accounts.deletionDueAt)))
    .returning({ id: accounts.id });
  if (updatedRows.length === 0) return;
  await mailer.queue(tx, accountId, "deletion_cancelled", context);
  await recordActivity(tx, accountId, [{ kind: "deletion_cancelled" }], context.now);
}
