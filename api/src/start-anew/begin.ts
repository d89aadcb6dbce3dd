import { and, eq, isNull, sql } from "drizzle-orm";

import type { Actor } from "../auth/session-tokens.ts";
import type { Tx } from "../db/database.ts";
import { accounts, keyringFormer, keyrings, purgedSecrets, requests, secrets, secretsSetAside } from "../db/schema.ts";
import { Problem } from "../http/problem.ts";
import { conflictWith, type Call, type Circumstances } from "../keyring/apply-change.ts";
import { checkAnew } from "../keyring/check-change.ts";
import { writeChange, type KeyringRow } from "../keyring/queries.ts";
import { nextChange } from "../secrets/queries.ts";
import type { Services } from "../services.ts";
import { endAllShares } from "../shares/end.ts";
import { freshSignInPolicy } from "./policy.ts";
import { endStartAnew, findStartAnew } from "./queries.ts";
import { stateOf } from "./state-of.ts";

/**
 * [Note: Starting anew] The keyring change after the wait, in its one transaction:
 *
 * 1. The sign-in is fresh, the change follows the state that is there, and starting anew was asked
 *    for, waited for, not objected to.
 * 2. The change is checked and written: every opener of before goes, kept for 30 days as any former
 *    one.
 * 3. Secrets are set aside: their ids count as gone for good, their versions and objects stay for
 *    30 days (collector.ts).
 * 4. Shares end, requests are revoked: what opened them is lost.
 *
 * @returns the bytes that are kept more than before.
 * @throws Problem `login_required`, `state_conflict`, `conflict`, `keyring_change_invalid`.
 */
export async function beginAnew(
  tx: Tx,
  actor: Actor,
  stored: KeyringRow,
  call: Call,
  services: Pick<Services, "mailer" | "recordBox">,
  when: Circumstances,
): Promise<number> {
  const { change } = call;
  const { now } = when;
  const own = freshSignInPolicy(actor, now);
  if (change.state_rev !== stored.stateRev + 1) throw conflictWith(stored);
  const asked = await findStartAnew(tx, own);
  if (asked === null || stateOf(asked, now) !== "ready")
    throw new Problem("conflict", { detail: "the account is not to be started anew, or not yet" });
  checkAnew(own.accountId, stored, change);
  const record = { changeSha256: call.changeSha256, callSha256: call.callSha256, secretId: null, version: null };
  const added = await writeChange(tx, own.accountId, stored, change, record, services.recordBox, now);
  if (change.requests === undefined) await dropRequestsDocument(tx, stored, own.accountId, change.state_rev, now);
  await setSecretsAside(tx, own.accountId, now);
  const freed = await endAllShares(tx, own.accountId, now);
  await tx
    .update(requests)
    .set({ revokedAt: now })
    .where(and(eq(requests.accountId, own.accountId), isNull(requests.revokedAt)));
  await tx.update(accounts).set({ rehearsalDueAt: null }).where(eq(accounts.id, own.accountId));
  await endStartAnew(tx, own, "begun", services, when);
  return added - freed;
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
    .insert(keyringFormer)
    .values({ accountId, stateRev, part: "requests", partId: "", value: Buffer.from(stored.requests), endedAt });
  await tx.update(keyrings).set({ requests: null }).where(eq(keyrings.accountId, accountId));
}

async function setSecretsAside(tx: Tx, accountId: string, now: Date): Promise<void> {
  const { id, version, label, deletedAt } = secrets;
  const own = eq(secrets.accountId, accountId);
  const change = await nextChange(tx, accountId);
  const gone = tx
    .select({ accountId: secrets.accountId, id, change: sql<number>`${change}::bigint`.as("change") })
    .from(secrets)
    .where(own);
  const aside = tx
    .select({
      accountId: secrets.accountId,
      id,
      version,
      label,
      deletedAt,
      setAsideAt: sql<Date>`${now.toISOString()}::timestamptz`.as("set_aside_at"),
    })
    .from(secrets)
    .where(own);
  await tx.insert(purgedSecrets).select(gone);
  await tx.insert(secretsSetAside).select(aside);
  await tx.delete(secrets).where(own);
}
