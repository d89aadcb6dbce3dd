import { deviceLinkLifetimeMinutes } from "@relicario/shared/api";

import { withLockedAccount } from "../accounts/lock-account.ts";
import { recordActivity } from "../activity/record-activity.ts";
import type { Actor } from "../auth/actor.ts";
import { Problem } from "../http/problem.ts";
import type { Language } from "../language/language.ts";
import { registerPublicId } from "../public-ids/directory.ts";
import type { Services } from "../services/services.ts";
import { isSameSignIn, requireOtherSignIn } from "./policy.ts";
import { insertLink, requireLink, writeAnswer, type LinkWithSignIns } from "./queries.ts";

/**
 * Writes the message once; a repeated call of the same sign-in gets the first response.
 *
 * @returns when the device link expires
 * @throws Problem `id_taken`.
 */
export function fillLink(services: Services, scope: Actor, linkId: string, message: string): Promise<Date> {
  const now = services.now();
  return withLockedAccount(services, scope.accountId, async (tx) => {
    const existing = await requireLink(tx, scope, linkId, now).catch(nullIfNotFound);
    if (existing?.link.message === message && isSameSignIn(existing.filledBy, existing.caller))
      return existing.link.expiresAt;
    const expiresAt = new Date(now.getTime() + deviceLinkLifetimeMinutes * 60_000);
    await registerPublicId(tx, { publicId: linkId, kind: "mailbox", accountId: scope.accountId });
    await insertLink(tx, {
      accountId: scope.accountId,
      linkId,
      message,
      filledBySessionId: scope.sessionId,
      expiresAt,
    });
    return expiresAt;
  });
}

/**
 * Writes the answer once, from another sign-in of the account, and notifies its owner by mail.
 *
 * @returns when the device link expires
 * @throws Problem `not_found`, `forbidden` for the sign-in that wrote the message, `conflict` when
 *   there is another answer.
 */
export function answerLink(
  services: Services,
  scope: Actor,
  linkId: string,
  answer: string,
  language: Language | null,
): Promise<Date> {
  const now = services.now();
  return withLockedAccount(services, scope.accountId, async (tx) => {
    const { link, filledBy, caller } = await requireLink(tx, scope, linkId, now);
    requireOtherSignIn(filledBy, caller);
    if (link.answer === answer) return link.expiresAt;
    if (link.answer !== null) throw new Problem("conflict", { detail: "the device link is answered already" });
    await writeAnswer(tx, link, answer, scope.sessionId);
    await services.mailer.queue(tx, scope.accountId, "device_linked", { now, language });
    await recordActivity(tx, scope.accountId, [{ kind: "device_linked" }], now);
    return link.expiresAt;
  });
}

function nullIfNotFound(error: unknown): LinkWithSignIns | null {
  if (error instanceof Problem && error.code === "not_found") return null;
  throw error;
}
