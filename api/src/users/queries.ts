import { mailTopics, type UpdateMeBody } from "@relicario/shared/api";
import { and, eq, getTableColumns, sql } from "drizzle-orm";

import { changeContactAddress } from "../mail/contact-address.ts";
import { claimUserName, toNameKey, releaseUserName } from "../accounts/user-names.ts";
import { recordActivity } from "../activity/record-activity.ts";
import type { AccountScope } from "../auth/actor.ts";
import type { Db, Tx } from "../db/database.ts";
import { accounts, secrets, shares } from "../db/schema.ts";
import { Problem } from "../http/problem.ts";
import type { RequestContext } from "../language/language.ts";
import type { Mailer } from "../mail/mailer.ts";
import { whereOpenable } from "../shares/queries.ts";

export type Account = typeof accounts.$inferSelect;

/** An account with its numbers of secrets and of openable shares. */
export interface CountedAccount {
  readonly account: Account;
  readonly secretCount: number;
  readonly shareCount: number;
}

/** Deletion revokes sessions; the cache may accept a token a moment longer. */
const createDeletedAccountProblem = (): Problem => new Problem("token_invalid");

/** Reads an account in one statement. @throws Problem `token_invalid` for a deleted account */
export function createAccountReader(db: Db): (scope: AccountScope, now: Date) => Promise<CountedAccount> {
  const accountIdPlaceholder = sql.placeholder("account");
  const accountQuery = db
    .select({
      account: getTableColumns(accounts),
      secretCount: db.$count(secrets, eq(secrets.accountId, accountIdPlaceholder)),
      shareCount: db.$count(
        shares,
        and(eq(shares.accountId, accountIdPlaceholder), whereOpenable(sql.placeholder("now"))),
      ),
    })
    .from(accounts)
    .where(eq(accounts.id, accountIdPlaceholder))
    .prepare("account");
  return async ({ accountId }, now) => {
    const [countedAccount] = await accountQuery.execute({ account: accountId, now: now.toISOString() });
    if (countedAccount === undefined) throw createDeletedAccountProblem();
    return countedAccount;
  };
}

/** @throws Problem `token_invalid` for a deleted account. */
export async function readAccount(tx: Tx, { accountId }: AccountScope): Promise<Account> {
  const [account] = await tx.select().from(accounts).where(eq(accounts.id, accountId));
  if (account === undefined) throw createDeletedAccountProblem();
  return account;
}

/**
 * @throws Problem `validation_error` with the reason `taken` when another account of the vendor has
 *   the user name, or released it lately.
 */
export async function updateAccount(
  tx: Tx,
  scope: AccountScope,
  {
    user_name: userName,
    contact_email: contactEmail,
    rehearsal_due_at: copyCheckDueAt,
    notifications,
    telemetry,
  }: UpdateMeBody,
  mailer: Mailer,
  context: RequestContext,
): Promise<void> {
  const account = await readAccount(tx, scope);
  if (userName !== undefined && userName !== account.userName)
    await renameAccount(tx, scope, { oldName: account.userName, newName: userName, now: context.now });
  if (contactEmail !== undefined && contactEmail !== account.contactEmail) {
    await changeContactAddress(tx, account, { address: contactEmail, isVerified: false }, mailer, context);
  }
  const isRenamed = userName !== undefined && userName !== account.userName;
  if (isRenamed || (contactEmail !== undefined && contactEmail !== account.contactEmail))
    await recordActivity(tx, scope.accountId, [{ kind: "profile_changed" }], context.now);
  if (notifications !== undefined || telemetry !== undefined) {
    const mutedMailTopics = mailTopics.filter(
      (topic) => !(notifications?.[topic] ?? !account.mutedMailTopics.includes(topic)),
    );
    await tx
      .update(accounts)
      .set({ mutedMailTopics, ...(telemetry === undefined ? {} : { telemetryOff: !telemetry }) })
      .where(eq(accounts.id, scope.accountId));
  }
  if (copyCheckDueAt !== undefined) {
    await tx
      .update(accounts)
      .set({ copyCheckDueAt: copyCheckDueAt === null ? null : new Date(copyCheckDueAt) })
      .where(eq(accounts.id, scope.accountId));
  }
}

async function renameAccount(
  tx: Tx,
  { accountId, vendorId }: AccountScope,
  { oldName, newName, now }: { oldName: string; newName: string; now: Date },
): Promise<void> {
  if (toNameKey(oldName) !== toNameKey(newName)) {
    if (!(await claimUserName(tx, { vendorId, name: newName }, accountId, now))) {
      throw new Problem("validation_error", { members: { errors: [{ path: "/user_name", reason: "taken" }] } });
    }
    await releaseUserName(tx, { vendorId, name: oldName }, now);
  }
  await tx.update(accounts).set({ userName: newName }).where(eq(accounts.id, accountId));
}
