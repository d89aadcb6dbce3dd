import { deviceLinkMinutes } from "@relicario/shared/api";

import { note } from "../activity/note.ts";
import { Problem } from "../http/problem.ts";
import { changeAccount } from "../keyring/queries.ts";
import type { Language } from "../mail/language.ts";
import { enterPublicId } from "../public-ids/directory.ts";
import type { Services } from "../services.ts";
import { isSameSignIn, requireOther, type OwnDeviceLinks } from "./policy.ts";
import { insertLink, requireLink, writeAnswer, type FoundLink } from "./queries.ts";

/**
 * Filled once; the same once more from the same sign-in answers as the first time.
 *
 * @returns when it ends
 * @throws Problem `id_taken`.
 */
export function fillLink(services: Services, own: OwnDeviceLinks, linkId: string, message: string): Promise<Date> {
  const now = services.now();
  return changeAccount(services, own.accountId, async (tx) => {
    const there = await requireLink(tx, own, linkId, now).catch(noneIfNotFound);
    if (there?.link.message === message && isSameSignIn(there.filledBy, there.caller)) return there.link.expiresAt;
    const expiresAt = new Date(now.getTime() + deviceLinkMinutes * 60_000);
    await enterPublicId(tx, { publicId: linkId, kind: "mailbox", accountId: own.accountId });
    await insertLink(tx, { accountId: own.accountId, linkId, message, filledBy: own.sessionId, expiresAt });
    return expiresAt;
  });
}

/**
 * Answered once, by another sign-in of the account, which is told to its owner by mail.
 *
 * @returns when the mailbox ends
 * @throws Problem `not_found`, `forbidden` for the one that filled it, `conflict` when another
 *   answer is there.
 */
export function answerLink(
  services: Services,
  own: OwnDeviceLinks,
  linkId: string,
  answer: string,
  language: Language | null,
): Promise<Date> {
  const now = services.now();
  return changeAccount(services, own.accountId, async (tx) => {
    const { link, filledBy, caller } = await requireLink(tx, own, linkId, now);
    requireOther(filledBy, caller);
    if (link.answer === answer) return link.expiresAt;
    if (link.answer !== null) throw new Problem("conflict", { detail: "the mailbox was answered already" });
    await writeAnswer(tx, link, answer, own.sessionId);
    await services.mailer.queue(tx, own.accountId, "device_linked", { now, language });
    await note(tx, own.accountId, [{ kind: "device_linked" }], now);
    return link.expiresAt;
  });
}

function noneIfNotFound(error: unknown): FoundLink | null {
  if (error instanceof Problem && error.code === "not_found") return null;
  throw error;
}
