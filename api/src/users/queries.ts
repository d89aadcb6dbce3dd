import type { UpdateMe } from "@relicario/shared/api";
import { count, eq } from "drizzle-orm";

import type { Db, Tx } from "../db/database.ts";
import { accounts, secrets } from "../db/schema.ts";
import { Problem } from "../http/problem.ts";
import type { Circumstances } from "../keyring/apply-change.ts";
import type { Mailer } from "../mail/mailer.ts";
import type { OwnAccount } from "./policy.ts";
import { claimUserName, nameKeyOf, releaseUserName } from "./user-name.ts";

export type Account = typeof accounts.$inferSelect;

export async function readAccount(db: Db | Tx, { accountId }: OwnAccount): Promise<{ account: Account; secrets: number }> {
  const [account] = await db.select().from(accounts).where(eq(accounts.id, accountId));
  if (account === undefined) throw new Error("a session without its account");
  const [counted] = await db.select({ rows: count() }).from(secrets).where(eq(secrets.accountId, accountId));
  return { account, secrets: counted?.rows ?? 0 };
}

/** @throws Problem `validation_error` with the reason `taken` when another account of the vendor has the name, or had it not long ago. */
export async function updateAccount(
  tx: Tx,
  own: OwnAccount,
  { user_name: userName, contact_email: contactEmail, rehearsal_due_at: rehearsalDueAt }: UpdateMe,
  mailer: Mailer,
  when: Circumstances,
): Promise<void> {
  const { account } = await readAccount(tx, own);
  if (userName !== undefined && userName !== account.userName) await rename(tx, own, { before: account.userName, after: userName, now: when.now });
  if (contactEmail !== undefined && contactEmail !== account.contactEmail) {
    // Whoever took a session over could turn the mails away from their reader: the reader hears of it.
    if (account.contactEmail !== null && account.contactEmailVerified) {
      await mailer.queue(tx, own.accountId, "address_changed", { ...when, address: account.contactEmail });
    }
    await tx.update(accounts).set({ contactEmail, contactEmailVerified: false }).where(eq(accounts.id, own.accountId));
  }
  if (rehearsalDueAt !== undefined) {
    await tx.update(accounts).set({ rehearsalDueAt: rehearsalDueAt === null ? null : new Date(rehearsalDueAt) }).where(eq(accounts.id, own.accountId));
  }
}

async function rename(tx: Tx, { accountId, vendorId }: OwnAccount, { before, after, now }: { before: string; after: string; now: Date }): Promise<void> {
  if (nameKeyOf(before) !== nameKeyOf(after)) {
    if (!(await claimUserName(tx, { vendorId, name: after }, accountId, now))) {
      throw new Problem("validation_error", { members: { errors: [{ path: "/user_name", reason: "taken" }] } });
    }
    await releaseUserName(tx, { vendorId, name: before }, now);
  }
  await tx.update(accounts).set({ userName: after }).where(eq(accounts.id, accountId));
}
