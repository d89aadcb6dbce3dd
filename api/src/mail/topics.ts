import type { MailTopic } from "@relicario/shared/api";

import type { MailKind } from "./mail-message.ts";

/** Mails that a person can turn off, by topic. All others are always sent. */
const topicByKind: Partial<Record<MailKind, MailTopic>> = {
  share_opened: "share_opened",
  share_expiring: "share_expiring",
  request_provided: "request_answered",
  shared_with_you: "shared_with_you",
  new_device: "new_device",
  rehearsal_due: "rehearsal",
};

export function getMailTopic(kind: MailKind): MailTopic | null {
  return topicByKind[kind] ?? null;
}

/**
 * Whether the mail itself has an unsubscribe link: mails about security are turned off only in a
 * session.
 */
export function allowsOneClickUnsubscribe(topic: MailTopic): boolean {
  return topic !== "new_device";
}
