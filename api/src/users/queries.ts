import { mailTopics, type UpdateMe } from "@relicario/shared/api";
import { and, eq, getTableColumns, sql } from "drizzle-orm";

import { note } from "../activity/note.ts";
import type { Db, Tx } from "../db/database.ts";
import { accounts, secrets, shares } from "../db/schema.ts";
import { Problem } from "../http/problem.ts";
import type { Circumstances } from "../keyring/apply-change.ts";
import type { Mailer } from "../mail/mailer.ts";
import { canBeOpened } from "../shares/queries.ts";
import type { OwnAccount } from "./policy.ts";
import { claimUserName, nameKeyOf, releaseUserName } from "./user-name.ts";

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
const gone = (): Problem => new Problem("token_invalid");

/** Reads an account in one statement. @throws Problem `token_invalid` when it was deleted. */
export function createAccountReader(db: Db): (own: OwnAccount, now: Date) => Promise<CountedAccount> {
  const id = sql.placeholder("account");
  const read = db
    .select({
      account: getTableColumns(accounts),
      secrets: db.$count(secrets, eq(secrets.accountId, id)),
      shares: db.$count(shares, and(eq(shares.accountId, id), canBeOpened(sql.placeholder("now")))),
    })
    .from(accounts)
    .where(eq(accounts.id, id))
    .prepare("account");
  return async ({ accountId }, now) => {
    const [found] = await read.execute({ account: accountId, now: now.toISOString() });
    if (found === undefined) throw gone();
    return found;
  };
}

/** @throws Problem `token_invalid` when it was deleted. */
export async function readAccount(tx: Tx, { accountId }: OwnAccount): Promise<Account> {
  const [account] = await tx.select().from(accounts).where(eq(accounts.id, accountId));
  if (account === undefined) throw gone();
  return account;
}

/**
 * @throws Problem `validation_error` with the reason `taken` when another account of the vendor has
 *   the name, or had it not long ago.
 */
export async function updateAccount(
  tx: Tx,
  own: OwnAccount,
  {
    user_name: userName,
    contact_email: contactEmail,
    rehearsal_due_at: rehearsalDueAt,
    notifications,
    telemetry,
  }: UpdateMe,
  mailer: Mailer,
  when: Circumstances,
): Promise<void> {
  const account = await readAccount(tx, own);
  if (userName !== undefined && userName !== account.userName)
    await rename(tx, own, { before: account.userName, after: userName, now: when.now });
  if (contactEmail !== undefined && contactEmail !== account.contactEmail) {
    // Whoever took a session over could turn the mails away from their reader: the reader hears of
    // it.
    if (account.contactEmail !== null && account.contactEmailVerified) {
      await mailer.queue(tx, own.accountId, "address_changed", { ...when, address: account.contactEmail });
    }
    await tx.update(accounts).set({ contactEmail, contactEmailVerified: false }).where(eq(accounts.id, own.accountId));
  }
  const isRenamed = userName !== undefined && userName !== account.userName;
  if (isRenamed || (contactEmail !== undefined && contactEmail !== account.contactEmail))
    await note(tx, own.accountId, [{ kind: "profile_changed" }], when.now);
  if (notifications !== undefined || telemetry !== undefined) {
    const mailsOff = mailTopics.filter((topic) => !(notifications?.[topic] ?? !account.mailsOff.includes(topic)));
    await tx
      .update(accounts)
      .set({ mailsOff, ...(telemetry === undefined ? {} : { telemetryOff: !telemetry }) })
      .where(eq(accounts.id, own.accountId));
  }
  if (rehearsalDueAt !== undefined) {
    await tx
      .update(accounts)
      .set({ rehearsalDueAt: rehearsalDueAt === null ? null : new Date(rehearsalDueAt) })
      .where(eq(accounts.id, own.accountId));
  }
}

async function rename(
  tx: Tx,
  { accountId, vendorId }: OwnAccount,
  { before, after, now }: { before: string; after: string; now: Date },
): Promise<void> {
  if (nameKeyOf(before) !== nameKeyOf(after)) {
    if (!(await claimUserName(tx, { vendorId, name: after }, accountId, now))) {
      throw new Problem("validation_error", { members: { errors: [{ path: "/user_name", reason: "taken" }] } });
    }
    await releaseUserName(tx, { vendorId, name: before }, now);
  }
  await tx.update(accounts).set({ userName: after }).where(eq(accounts.id, accountId));
}
