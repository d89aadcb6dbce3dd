import { z } from "zod";

import { maxActivityPageSize } from "./limits.ts";
import { Id, Timestamp } from "./wire.ts";

/** Recorded activity kinds, by topic. */
export const activityKindsByTopic = {
  sessions: ["signed_in", "session_ended", "device_linked"],
  secrets: ["secret_added", "secret_changed", "label_changed", "secret_trashed", "secret_restored", "secret_purged"],
  sharing: ["shared", "share_opened", "share_revoked", "request_made", "request_answered"],
  openers: ["opener_added", "opener_removed", "rotated", "anew_asked", "anew_ended", "anew_begun"],
  account: ["profile_changed", "password_changed", "deletion_asked", "deletion_cancelled"],
} as const;
export type ActivityTopic = keyof typeof activityKindsByTopic;
export const activityTopics = Object.keys(activityKindsByTopic) as [ActivityTopic, ...ActivityTopic[]];

export const ActivityKind = z.enum([
  ...activityKindsByTopic.sessions,
  ...activityKindsByTopic.secrets,
  ...activityKindsByTopic.sharing,
  ...activityKindsByTopic.openers,
  ...activityKindsByTopic.account,
]);
export type ActivityKind = z.infer<typeof ActivityKind>;

export const ActivityEntry = z.strictObject({
  id: Id,
  at: Timestamp,
  kind: ActivityKind,
  /** Number of objects that the call affected, such as secrets. */
  count: z.int().min(1),
  /** Last eight digits of the secret's id; null for no secret or several secrets. */
  secret: z
    .string()
    .regex(/^[0-9a-f]{8}$/)
    .nullable(),
  /** Device of a sign-in, as in {@link OwnSession}; null for other kinds. */
  device: z.string().nullable(),
  address: z.string().nullable(),
});
export type ActivityEntry = z.infer<typeof ActivityEntry>;

/** Query of `GET /user/activity`. */
export const ActivityQuery = z.strictObject({
  topic: z.enum(activityTopics).optional(),
  /** `next_cursor` of the previous page. */
  cursor: Id.optional(),
  limit: z.coerce.number().int().min(1).max(maxActivityPageSize).default(50),
});

/** Response of `GET /user/activity`: newest first; kept for `activityRetentionDays`. */
export const ActivityResponse = z.strictObject({ entries: z.array(ActivityEntry), next_cursor: Id.nullable() });
export type ActivityResponse = z.infer<typeof ActivityResponse>;
