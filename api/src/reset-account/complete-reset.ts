import { and, eq, isNull, sql } from "drizzle-orm";

import { incrementChangeCounter } from "../accounts/next-change.ts";
import type { Actor } from "../auth/actor.ts";
import { requireFreshSignIn } from "../auth/fresh-sign-in.ts";
import type { Tx } from "../db/database.ts";
import {
  accounts,
  formerKeyringParts,
  keyrings,
  purgedSecrets,
  requests,
  secrets,
  archivedSecrets,
} from "../db/schema.ts";
import { Problem } from "../http/problem.ts";
import { createStateConflict, type ChangeCall } from "../keyring/apply-change.ts";
import { checkAccountReset } from "../keyring/check-change.ts";
import { writeChange, type KeyringRow } from "../keyring/queries.ts";
import type { RequestContext } from "../language/language.ts";
import type { Services } from "../services/services.ts";
import { endAllShares } from "../shares/end-shares.ts";
import { endAccountReset, findAccountReset } from "./queries.ts";
import { getResetState } from "./reset-state.ts";

/**
 * [Note: Account reset] The keyring change after the wait, in its one transaction:
 *
 * 1. The sign-in is fresh, the change follows the state that is there, and the reset was asked for,
 *    waited for, not objected to.
 * 2. The change is checked and written: every opener of before goes, kept for 30 days as any former
 *    one.
 * 3. Secrets are archived: their ids count as gone for good, their versions and objects stay for
 *    30 days (collector.ts).
 * 4. Shares end, requests are revoked: what opened them is lost.
 *
 * @returns the bytes that are kept more than before.
 * @throws Problem `login_required`, `state_conflict`, `conflict`, `keyring_change_invalid`.
 */
export async function completeAccountReset(
  tx: Tx,
  actor: Actor,
  stored: KeyringRow,
  call: ChangeCall,
  services: Pick<Services, "mailer" | "recordBox">,
  context: RequestContext,
): Promise<number> {
  const { change } = call;
  const { now } = context;
  const scope = requireFreshSignIn(actor, now);
  if (change.state_rev !== stored.stateRev + 1) throw createStateConflict(stored);
  const accountReset = await findAccountReset(tx, scope);
  if (accountReset === null || getResetState(accountReset, now) !== "ready")
    throw new Problem("conflict", { detail: "the account is not to be started anew, or not yet" });
  checkAccountReset(scope.accountId, stored, change);
  const changeRecord = { changeSha256: call.changeSha256, callSha256: call.callSha256, secretId: null, version: null };
  const addedBytes = await writeChange(tx, scope.accountId, stored, change, changeRecord, services.recordBox, now);
  if (change.requests === undefined) await dropRequestsDocument(tx, stored, scope.accountId, change.state_rev, now);
  await archiveSecrets(tx, scope.accountId, now);
  const freedBytes = await endAllShares(tx, scope.accountId, now);
  await tx
    .update(requests)
    .set({ revokedAt: now })
    .where(and(eq(requests.accountId, scope.accountId), isNull(requests.revokedAt)));
  await tx.update(accounts).set({ rehearsalDueAt: null }).where(eq(accounts.id, scope.accountId));
  await endAccountReset(tx, scope, "begun", services, context);
  return addedBytes - freedBytes;
}

/**
 * Nobody can open it any more; it is kept as a former one, and its bytes go on counting until that
 * goes.
 */
async function dropRequestsDocument(
  tx: Tx,
  stored: KeyringRow,
  accountId: string,
  stateRev: number,
  endedAt: Date,
): Promise<void> {
  if (stored.requests === null) return;
  await tx
    .insert(formerKeyringParts)
    .values({ accountId, stateRev, part: "requests", partId: "", value: Buffer.from(stored.requests), endedAt });
  await tx.update(keyrings).set({ requests: null }).where(eq(keyrings.accountId, accountId));
}

async function archiveSecrets(tx: Tx, accountId: string, now: Date): Promise<void> {
  const { id, version, label, deletedAt } = secrets;
  const belongsToAccount = eq(secrets.accountId, accountId);
  const change = await incrementChangeCounter(tx, accountId);
  const purgedRows = tx
    .select({ accountId: secrets.accountId, id, change: sql<number>`${change}::bigint`.as("change") })
    .from(secrets)
    .where(belongsToAccount);
  const archivedRows = tx
    .select({
      accountId: secrets.accountId,
      id,
      version,
      label,
      deletedAt,
      setAsideAt: sql<Date>`${now.toISOString()}::timestamptz`.as("set_aside_at"),
    })
    .from(secrets)
    .where(belongsToAccount);
  await tx.insert(purgedSecrets).select(purgedRows);
  await tx.insert(archivedSecrets).select(archivedRows);
  await tx.delete(secrets).where(belongsToAccount);
}
