import { emailValidationHours } from "@relicario/shared/api";
import { and, eq, lte } from "drizzle-orm";
import { v7 as uuidv7 } from "uuid";

import type { Db, Tx } from "../db/database.ts";
import { accounts, emailValidations } from "../db/schema.ts";
import { Problem } from "../http/problem.ts";
import type { Circumstances } from "../keyring/apply-change.ts";
import { isNonceOf } from "../mail/address-nonce.ts";
import { rateRules, type RateLimiter } from "../http/rate-limits.ts";
import type { Mailer } from "../mail/mailer.ts";
import { forEachAccount, type Sweeping } from "../operations/sweeping.ts";
import type { OwnAccount } from "./policy.ts";
import { readAccount } from "./queries.ts";

/*
 * [Note: Contact address]
 *
 * Person / service Mail
 * 1. POST /user/send-validate-email: the question replaces an older one; a mail is queued
 *                                                 2. the link opens the portal at /validate-email;
 *                                                    scanners that follow it spend nothing, for
 *                                                    what is behind # is never sent
 * 3. the page's button, in a session of the same account: GET /user/validate-contact-email
 * 4. right: the address is verified, the question is gone; wrong, late, used: one same answer
 */

interface AskParts {
  readonly mailer: Mailer;
  readonly limiter: RateLimiter;
}

/**
 * Asks the present address. An address that is verified is not asked again.
 *
 * @throws Problem `validation_error` without one, `too_many_requests` when its mailbox was asked
 *   often enough, by whomever.
 */
export async function askAddress(
  tx: Tx,
  own: OwnAccount,
  { mailer, limiter }: AskParts,
  when: Circumstances,
): Promise<void> {
  const { contactEmail: address, contactEmailVerified: verified } = await readAccount(tx, own);
  if (address === null)
    throw new Problem("validation_error", { members: { errors: [{ path: "/contact_email", reason: "missing" }] } });
  if (verified) return;
  await limiter.count(rateRules.askRecipient, { subject: `mailbox ${mailboxOf(address)}` }, tx);
  const question = { id: uuidv7({ msecs: when.now.getTime() }), address, createdAt: when.now };
  await tx
    .insert(emailValidations)
    .values({ accountId: own.accountId, ...question })
    .onConflictDoUpdate({ target: emailValidations.accountId, set: question });
  await mailer.queue(tx, own.accountId, "validate_email", { ...when, address });
}

/**
 * Addresses that large providers deliver to one person are one: without case, dots and what follows
 * a plus sign.
 */
function mailboxOf(address: string): string {
  const at = address.lastIndexOf("@");
  const [name = ""] = address.slice(0, at).split("+", 1);
  return `${name.replaceAll(".", "")}${address.slice(at)}`.toLowerCase();
}

/** @throws Problem `validation_error`, the same for every answer that is not the right one. */
export async function answerAddress(
  tx: Tx,
  own: OwnAccount,
  key: Buffer,
  { value, nonce }: { value: string; nonce: string },
  now: Date,
): Promise<void> {
  const account = await readAccount(tx, own);
  const [question] = await tx.select().from(emailValidations).where(eq(emailValidations.accountId, own.accountId));
  const right =
    question !== undefined &&
    question.createdAt > oldest(now) &&
    question.address === value &&
    account.contactEmail === value &&
    isNonceOf(key, question, nonce);
  if (!right) throw new Problem("validation_error", { members: { errors: [{ path: "/nonce", reason: "invalid" }] } });
  await tx.update(accounts).set({ contactEmailVerified: true }).where(eq(accounts.id, own.accountId));
  await tx
    .delete(emailValidations)
    .where(and(eq(emailValidations.accountId, own.accountId), eq(emailValidations.id, question.id)));
}

export async function dropOldQuestions(db: Db, sweeping: Sweeping): Promise<void> {
  const { accountId, createdAt } = emailValidations;
  const due = lte(createdAt, oldest(sweeping.now));
  await forEachAccount(db, sweeping, { accountId, due }, (account) =>
    db.delete(emailValidations).where(and(eq(accountId, account), due)),
  );
}

function oldest(now: Date): Date {
  return new Date(now.getTime() - emailValidationHours * 3_600_000);
}
