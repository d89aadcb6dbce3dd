import { and, eq, isNull, sql } from "drizzle-orm";

import { incrementChangeCounter } from "../accounts/change-counter.ts";
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
 * [Note: Account reset] The keyring change after the waiting time, in one transaction:
 *
 * 1. Checks that the sign-in is fresh, that the change follows the stored state, and that the reset
 *    was requested, has waited and was not objected to.
 * 2. Checks and writes the change, which removes every earlier opener from the keyring. A copy of
 *    each stays in `keyring_former` for 30 days.
 * 3. Archives secrets: their ids count as purged, their versions and objects stay for 30 days
 *    (delete-expired.ts).
 * 4. Ends shares and revokes requests: their keys are lost.
 *
 * @returns the added bytes.
 * @throws Problem `login_required`, `state_conflict`, `conflict`, `keyring_change_invalid`.
 */
export async function completeAccountReset(
  tx: Tx,
  actor: Actor,
  storedKeyring: KeyringRow,
  call: ChangeCall,
  services: Pick<Services, "identityProvider" | "mailer" | "recordBox">,
  context: RequestContext,
): Promise<number> {
  const { change } = call;
  const { now } = context;
  const scope = await requireFreshSignIn(actor, services, now);
  if (change.state_rev !== storedKeyring.stateRev + 1) throw createStateConflict(storedKeyring);
  const accountReset = await findAccountReset(tx, scope);
  if (accountReset === null || getResetState(accountReset, now) !== "ready")
    throw new Problem("conflict", { detail: "the account reset is not ready" });
  checkAccountReset(scope.accountId, storedKeyring, change);
  const changeRecord = { changeSha256: call.changeSha256, callSha256: call.callSha256, secretId: null, version: null };
  const addedBytes = await writeChange(
    tx,
    scope.accountId,
    storedKeyring,
    change,
    changeRecord,
    services.recordBox,
    now,
  );
  if (change.requests === undefined)
    await dropRequestsDocument(tx, storedKeyring, scope.accountId, change.state_rev, now);
  await archiveSecrets(tx, scope.accountId, now);
  const freedBytes = await endAllShares(tx, scope.accountId, now);
  await tx
    .update(requests)
    .set({ revokedAt: now })
    .where(and(eq(requests.accountId, scope.accountId), isNull(requests.revokedAt)));
  await tx.update(accounts).set({ copyCheckDueAt: null }).where(eq(accounts.id, scope.accountId));
  await endAccountReset(tx, scope, "begun", services, context);
  return addedBytes - freedBytes;
}

/**
 * Moves the sealed document of requests, which no key can open any more, to `keyring_former`. Its
 * bytes count towards the account's storage until the former part is deleted.
 */
async function dropRequestsDocument(
  tx: Tx,
  storedKeyring: KeyringRow,
  accountId: string,
  stateRev: number,
  endedAt: Date,
): Promise<void> {
  if (storedKeyring.requests === null) return;
  await tx
    .insert(formerKeyringParts)
    .values({ accountId, stateRev, part: "requests", partId: "", value: Buffer.from(storedKeyring.requests), endedAt });
  await tx.update(keyrings).set({ requests: null }).where(eq(keyrings.accountId, accountId));
}

async function archiveSecrets(tx: Tx, accountId: string, now: Date): Promise<void> {
  const { id, version, label, deletedAt } = secrets;
  const accountCondition = eq(secrets.accountId, accountId);
  const changeNumber = await incrementChangeCounter(tx, accountId);
  const purgedRows = tx
    .select({ accountId: secrets.accountId, id, changeNumber: sql<number>`${changeNumber}::bigint`.as("change") })
    .from(secrets)
    .where(accountCondition);
  const archivedRows = tx
    .select({
      accountId: secrets.accountId,
      id,
      version,
      label,
      deletedAt,
      archivedAt: sql<Date>`${now.toISOString()}::timestamptz`.as("set_aside_at"),
    })
    .from(secrets)
    .where(accountCondition);
  await tx.insert(purgedSecrets).select(purgedRows);
  await tx.insert(archivedSecrets).select(archivedRows);
  await tx.delete(secrets).where(accountCondition);
}
