import { emailValidationHours } from "@relicario/shared/api";
import { and, eq, lte } from "drizzle-orm";
import { v7 as uuidv7 } from "uuid";

import type { AccountScope } from "../auth/actor.ts";
import type { Tx } from "../db/database.ts";
import { accounts, emailValidations } from "../db/schema.ts";
import { Problem } from "../http/problem.ts";
import { rateLimitRules, type RateLimiter } from "../http/rate-limits.ts";
import type { RequestContext } from "../language/language.ts";
import { isValidNonce } from "../mail/address-nonce.ts";
import type { Mailer } from "../mail/mailer.ts";
import { forEachAccount, type SweepContext } from "../resource/sweep-context.ts";
import type { Services } from "../services/services.ts";
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

interface RequestValidationDeps {
  readonly mailer: Mailer;
  readonly limiter: RateLimiter;
}

/**
 * Asks the present address. An address that is verified is not asked again.
 *
 * @throws Problem `validation_error` without one, `too_many_requests` when its mailbox was asked
 *   often enough, by whomever.
 */
export async function requestAddressValidation(
  tx: Tx,
  scope: AccountScope,
  { mailer, limiter }: RequestValidationDeps,
  context: RequestContext,
): Promise<void> {
  const { contactEmail: address, contactEmailVerified: isVerified } = await readAccount(tx, scope);
  if (address === null)
    throw new Problem("validation_error", { members: { errors: [{ path: "/contact_email", reason: "missing" }] } });
  if (isVerified) return;
  await limiter.consume(rateLimitRules.validationPerRecipient, { subject: `mailbox ${normalizeMailbox(address)}` }, tx);
  const validation = { id: uuidv7({ msecs: context.now.getTime() }), address, createdAt: context.now };
  await tx
    .insert(emailValidations)
    .values({ accountId: scope.accountId, ...validation })
    .onConflictDoUpdate({ target: emailValidations.accountId, set: validation });
  await mailer.queue(tx, scope.accountId, "validate_email", { ...context, address });
}

/**
 * Addresses that large providers deliver to one person are one: without case, dots and what follows
 * a plus sign.
 */
function normalizeMailbox(address: string): string {
  const atIndex = address.lastIndexOf("@");
  const [name = ""] = address.slice(0, atIndex).split("+", 1);
  return `${name.replaceAll(".", "")}${address.slice(atIndex)}`.toLowerCase();
}

/** @throws Problem `validation_error`, the same for every answer that is not the right one. */
export async function confirmAddress(
  tx: Tx,
  scope: AccountScope,
  key: Buffer,
  { value, nonce }: { value: string; nonce: string },
  now: Date,
): Promise<void> {
  const account = await readAccount(tx, scope);
  const [validation] = await tx.select().from(emailValidations).where(eq(emailValidations.accountId, scope.accountId));
  const isValid =
    validation !== undefined &&
    validation.createdAt > getValidationCutoff(now) &&
    validation.address === value &&
    account.contactEmail === value &&
    isValidNonce(key, validation, nonce);
  if (!isValid) throw new Problem("validation_error", { members: { errors: [{ path: "/nonce", reason: "invalid" }] } });
  await tx.update(accounts).set({ contactEmailVerified: true }).where(eq(accounts.id, scope.accountId));
  await tx
    .delete(emailValidations)
    .where(and(eq(emailValidations.accountId, scope.accountId), eq(emailValidations.id, validation.id)));
}

export async function deleteExpiredValidations({ db }: Pick<Services, "db">, context: SweepContext): Promise<void> {
  const { accountId, createdAt } = emailValidations;
  const isDue = lte(createdAt, getValidationCutoff(context.now));
  await forEachAccount(db, context, { accountId, due: isDue }, (dueAccountId) =>
    db.delete(emailValidations).where(and(eq(accountId, dueAccountId), isDue)),
  );
}

function getValidationCutoff(now: Date): Date {
  return new Date(now.getTime() - emailValidationHours * 3_600_000);
}
