import { emailValidationHours } from "@relicario/shared/api";
import { and, eq, lte } from "drizzle-orm";
import { v7 as uuidv7 } from "uuid";

import type { AccountScope } from "../auth/actor.ts";
import type { Tx } from "../db/database.ts";
import { accounts, emailValidations } from "../db/schema.ts";
import type { RecordKeys } from "../env/record-keys.ts";
import { Problem } from "../http/problem.ts";
import { rateLimitRules, type RateLimiter } from "../http/rate-limits.ts";
import type { RequestContext } from "../language/language.ts";
import { isValidNonce } from "../mail/address-nonce.ts";
import type { Mailer } from "../mail/mailer.ts";
import { deleteDueRows, type SweepContext } from "../resource/sweep-context.ts";
import type { Services } from "../services/services.ts";
import { readAccount } from "./queries.ts";

/*
 * [Note: Contact address]
 *
 * 1. POST /user/send-validate-email stores a validation in place of an older one, and queues a
 *    mail.
 * 2. The mail's link opens /validate-email of the portal. A scanner that follows it uses up
 *    nothing: what follows # is never sent.
 * 3. The page's button calls GET /user/validate-contact-email, in a session of the account.
 * 4. On success the address is verified and the validation deleted. Wrong, late and used nonces get
 *    the same response.
 */

interface RequestValidationDeps {
  readonly mailer: Mailer;
  readonly limiter: RateLimiter;
}

/**
 * Sends a mail to validate the contact address, unless it is verified.
 *
 * @throws Problem `validation_error` without an address, `too_many_requests` when its mailbox got
 *   too many, from all accounts.
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
 * Large providers deliver to one mailbox regardless of case, dots and anything after a plus sign.
 */
function normalizeMailbox(address: string): string {
  const atIndex = address.lastIndexOf("@");
  const [name = ""] = address.slice(0, atIndex).split("+", 1);
  return `${name.replaceAll(".", "")}${address.slice(atIndex)}`.toLowerCase();
}

/** @throws Problem `validation_error`, the same for every wrong value. */
export async function confirmAddress(
  tx: Tx,
  scope: AccountScope,
  keys: RecordKeys,
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
    keys.some((key) => isValidNonce(key, validation, nonce));
  if (!isValid) throw new Problem("validation_error", { members: { errors: [{ path: "/nonce", reason: "invalid" }] } });
  await tx.update(accounts).set({ contactEmailVerified: true }).where(eq(accounts.id, scope.accountId));
  await tx
    .delete(emailValidations)
    .where(and(eq(emailValidations.accountId, scope.accountId), eq(emailValidations.id, validation.id)));
}

export function deleteExpiredValidations({ db }: Pick<Services, "db">, context: SweepContext): Promise<void> {
  const { accountId, id, createdAt } = emailValidations;
  return deleteDueRows(db, context, [accountId, id], lte(createdAt, getValidationCutoff(context.now)));
}

function getValidationCutoff(now: Date): Date {
  return new Date(now.getTime() - emailValidationHours * 3_600_000);
}
