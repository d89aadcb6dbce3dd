import type { MailTopic } from "@relicario/shared/api";

import type { MailKind } from "./mail-message.ts";

/** Mails that a person may do without, by what they are about. All others are sent always. */
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
 * Whether a mail itself offers to get no more of them: those about security are turned off by
 * somebody who is signed in.
 */
export function allowsOneClickUnsubscribe(topic: MailTopic): boolean {
  return topic !== "new_device";
}
