import type { EndAccountResetQuery } from "@relicario/shared/api";
import { and, desc, eq, isNull } from "drizzle-orm";
import { v7 as uuidv7 } from "uuid";

import { recordActivity } from "../activity/record-activity.ts";
import type { AccountScope } from "../auth/actor.ts";
import type { Db, Tx } from "../db/database.ts";
import { accountResets } from "../db/schema.ts";
import { Problem } from "../http/problem.ts";
import { readKeyring } from "../keyring/queries.ts";
import type { RequestContext } from "../language/language.ts";
import type { Services } from "../services/services.ts";
import { getResetState, type AccountResetRow } from "./reset-state.ts";

/** The latest reset; null without one, or when it ended long ago. */
export async function findAccountReset(db: Db | Tx, { accountId }: AccountScope): Promise<AccountResetRow | null> {
  const [row] = await db
    .select()
    .from(accountResets)
    .where(eq(accountResets.accountId, accountId))
    .orderBy(desc(accountResets.askedAt), desc(accountResets.id))
    .limit(1);
  return row ?? null;
}

/**
 * Idempotent: a waiting or ready reset stays as it is. @throws Problem `no_keyring` when there is
 * nothing to reset
 */
export async function requestAccountReset(
  tx: Tx,
  scope: AccountScope,
  { env, mailer }: Pick<Services, "env" | "mailer">,
  context: RequestContext,
): Promise<void> {
  if ((await readKeyring(tx, scope)) === null) throw new Problem("no_keyring");
  const lastReset = await findAccountReset(tx, scope);
  const { now } = context;
  if (lastReset !== null && ["waiting", "ready"].includes(getResetState(lastReset, now))) return;
  await tx.delete(accountResets).where(wherePending(scope)); // lapsed
  await tx.insert(accountResets).values({
    accountId: scope.accountId,
    id: uuidv7({ msecs: now.getTime() }),
    askedAt: now,
    readyAt: new Date(now.getTime() + env.START_ANEW_SECONDS * 1_000),
  });
  await mailer.queue(tx, scope.accountId, "anew_asked", context);
  await recordActivity(tx, scope.accountId, [{ kind: "anew_asked" }], now);
}

/** Ends a waiting or ready reset. Idempotent: one that ended keeps its outcome. */
export async function endAccountReset(
  tx: Tx,
  scope: AccountScope,
  outcome: EndAccountResetQuery["reason"] | "begun",
  { mailer }: Pick<Services, "mailer">,
  context: RequestContext,
): Promise<void> {
  const updatedRows = await tx
    .update(accountResets)
    .set({ endedAt: context.now, outcome })
    .where(wherePending(scope))
    .returning({ id: accountResets.id });
  if (updatedRows.length === 0) return;
  const kind = outcome === "begun" ? "anew_begun" : "anew_ended";
  await mailer.queue(tx, scope.accountId, kind, context);
  await recordActivity(tx, scope.accountId, [{ kind }], context.now);
}

const wherePending = ({ accountId }: AccountScope) =>
  and(eq(accountResets.accountId, accountId), isNull(accountResets.endedAt));
