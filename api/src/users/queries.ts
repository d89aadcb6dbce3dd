import { mailTopics, type UpdateMeBody } from "@relicario/shared/api";
import { and, eq, getTableColumns, sql } from "drizzle-orm";

import { claimUserName, toNameKey, releaseUserName } from "../accounts/user-names.ts";
import { recordActivity } from "../activity/record-activity.ts";
import type { AccountScope } from "../auth/actor.ts";
import type { Db, Tx } from "../db/database.ts";
import { accounts, secrets, shares } from "../db/schema.ts";
import { Problem } from "../http/problem.ts";
import type { RequestContext } from "../language/language.ts";
import type { Mailer } from "../mail/mailer.ts";
import { isOpenable } from "../shares/queries.ts";

export type Account = typeof accounts.$inferSelect;

/** An account with what it has: secrets, and shares that can be opened. */
export interface CountedAccount {
  readonly account: Account;
  readonly secrets: number;
  readonly shares: number;
}

/**
 * A deleted account takes its sessions with it; a token may be taken for good for a moment longer.
 */
const createDeletedAccountProblem = (): Problem => new Problem("token_invalid");

/** Reads an account in one statement. @throws Problem `token_invalid` when it was deleted. */
export function createAccountReader(db: Db): (scope: AccountScope, now: Date) => Promise<CountedAccount> {
  const accountIdPlaceholder = sql.placeholder("account");
  const accountQuery = db
    .select({
      account: getTableColumns(accounts),
      secrets: db.$count(secrets, eq(secrets.accountId, accountIdPlaceholder)),
      shares: db.$count(shares, and(eq(shares.accountId, accountIdPlaceholder), isOpenable(sql.placeholder("now")))),
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

/** @throws Problem `token_invalid` when it was deleted. */
export async function readAccount(tx: Tx, { accountId }: AccountScope): Promise<Account> {
  const [account] = await tx.select().from(accounts).where(eq(accounts.id, accountId));
  if (account === undefined) throw createDeletedAccountProblem();
  return account;
}

/**
 * @throws Problem `validation_error` with the reason `taken` when another account of the vendor has
 *   the name, or had it not long ago.
 */
export async function updateAccount(
  tx: Tx,
  scope: AccountScope,
  {
    user_name: userName,
    contact_email: contactEmail,
    rehearsal_due_at: rehearsalDueAt,
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
    // Whoever took a session over could turn the mails away from their reader: the reader hears of
    // it.
    if (account.contactEmail !== null && account.contactEmailVerified) {
      await mailer.queue(tx, scope.accountId, "address_changed", { ...context, address: account.contactEmail });
    }
    await tx
      .update(accounts)
      .set({ contactEmail, contactEmailVerified: false })
      .where(eq(accounts.id, scope.accountId));
  }
  const isRenamed = userName !== undefined && userName !== account.userName;
  if (isRenamed || (contactEmail !== undefined && contactEmail !== account.contactEmail))
    await recordActivity(tx, scope.accountId, [{ kind: "profile_changed" }], context.now);
  if (notifications !== undefined || telemetry !== undefined) {
    const mailsOff = mailTopics.filter((topic) => !(notifications?.[topic] ?? !account.mailsOff.includes(topic)));
    await tx
      .update(accounts)
      .set({ mailsOff, ...(telemetry === undefined ? {} : { telemetryOff: !telemetry }) })
      .where(eq(accounts.id, scope.accountId));
  }
  if (rehearsalDueAt !== undefined) {
    await tx
      .update(accounts)
      .set({ rehearsalDueAt: rehearsalDueAt === null ? null : new Date(rehearsalDueAt) })
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
