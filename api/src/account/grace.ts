import { deletionGraceDays } from "@relicario/shared/api";
import { and, eq, isNotNull, isNull } from "drizzle-orm";

import { note } from "../activity/note.ts";
import type { Tx } from "../db/database.ts";
import { accounts } from "../db/schema.ts";
import type { Circumstances } from "../keyring/apply-change.ts";
import type { Mailer } from "../mail/mailer.ts";
import type { OwnDeletion } from "./policy.ts";

/** In 14 days; one that was asked for before keeps its time. With the account held. */
export async function askDeletion(
  tx: Tx,
  { accountId }: OwnDeletion,
  mailer: Mailer,
  when: Circumstances,
): Promise<void> {
  const deletionDueAt = new Date(when.now.getTime() + deletionGraceDays * 86_400_000);
  const asked = await tx
    .update(accounts)
    .set({ deletionDueAt })
    .where(and(eq(accounts.id, accountId), isNull(accounts.deletionDueAt)))
    .returning({ id: accounts.id });
  if (asked.length === 0) return;
  await mailer.queue(tx, accountId, "deletion_asked", when);
  await note(tx, accountId, [{ kind: "deletion_asked" }], when.now);
}

/** Nothing happens where it was not asked for. With the account held. */
export async function cancelDeletion(
  tx: Tx,
  { accountId }: OwnDeletion,
  mailer: Mailer,
  when: Circumstances,
): Promise<void> {
  const cancelled = await tx
    .update(accounts)
    .set({ deletionDueAt: null })
    .where(and(eq(accounts.id, accountId), isNotNull(accounts.deletionDueAt)))
    .returning({ id: accounts.id });
  if (cancelled.length === 0) return;
  await mailer.queue(tx, accountId, "deletion_cancelled", when);
  await note(tx, accountId, [{ kind: "deletion_cancelled" }], when.now);
}
