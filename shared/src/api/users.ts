import { z } from "zod";

import { userNamePattern } from "./limits.ts";
import { base64urlBytes, Id, Timestamp } from "./wire.ts";

export const UserName = z.string().regex(userNamePattern);
export const ContactEmail = z.email().max(254);

/** About what mails are sent. `new_device` is about security, the others are not. */
export const mailTopics = [
  "share_opened",
  "share_expiring",
  "request_answered",
  "shared_with_you",
  "new_device",
  "rehearsal",
] as const;
export type MailTopic = (typeof mailTopics)[number];
/** True: mails about it are sent. */
export const NotificationSettings = z.strictObject(
  Object.fromEntries(mailTopics.map((topic) => [topic, z.boolean()])) as Record<MailTopic, z.ZodBoolean>,
);
export type NotificationSettings = z.infer<typeof NotificationSettings>;

export const Me = z.strictObject({
  user_id: Id,
  user_name: z.string(),
  /** The identity provider's; read only. */
  username: z.string(),
  contact_email: z.string().nullable(),
  contact_email_verified: z.boolean(),
  licence: z.strictObject({
    plan: z.string(),
    storage_quota: z.int().min(0),
    storage_used: z.int().min(0),
    secrets: z.int().min(0),
    shares: z.int().min(0),
  }),
  /**
   * When the first of the account's secrets is due for a rehearsal, as a device says; all that the
   * service learns of them.
   */
  rehearsal_due_at: Timestamp.nullable(),
  notifications: NotificationSettings,
  /** Whether the portal may measure how fast and how well it works for this account. */
  telemetry: z.boolean(),
  /** When the account is deleted; null where that was not asked for. */
  deletion_due_at: Timestamp.nullable(),
  created_at: Timestamp,
});
export type Me = z.infer<typeof Me>;

/** Body of `POST /user/me`: what is to change. */
export const UpdateMeBody = z.strictObject({
  user_name: UserName.optional(),
  contact_email: ContactEmail.optional(),
  rehearsal_due_at: Timestamp.nullable().optional(),
  notifications: NotificationSettings.partial().optional(),
  telemetry: z.boolean().optional(),
});
export type UpdateMeBody = z.infer<typeof UpdateMeBody>;

/**
 * Query of `POST /user/validate-username`: a name as it is typed. Any text may be asked about; 422
 * names why it cannot be had.
 */
export const ValidateUserNameQuery = z.strictObject({ username: z.string().max(256) });
export const ValidateUserNameResponse = z.strictObject({ valid: z.literal(true) });
/** Why a user name cannot be had, as `reason` of the problem's `errors`. */
export const userNameRejections = ["taken", "malformed"] as const;

/**
 * Query of `GET /user/validate-contact-email`: what the mail's link carried. 128 bits, once, within
 * 24 hours.
 */
export const ValidateContactEmailQuery = z.strictObject({
  value: ContactEmail,
  nonce: base64urlBytes(16, { exact: true }),
});
export const ValidateContactEmailResponse = z.strictObject({ valid: z.literal(true) });

/**
 * How things stand with starting the account anew (`/user/start-anew`). `none`: nobody asked, or it
 * lapsed. `waiting` until `ready_at`, then `ready`; `objected`, `cancelled` and `begun` at
 * `ended_at`. After `begun` what was there before is kept until `kept_until`.
 */
export const AccountReset = z.strictObject({
  state: z.enum(["none", "waiting", "ready", "objected", "cancelled", "begun"]),
  asked_at: Timestamp.nullable(),
  ready_at: Timestamp.nullable(),
  ended_at: Timestamp.nullable(),
  kept_until: Timestamp.nullable(),
});
export type AccountReset = z.infer<typeof AccountReset>;

/**
 * Query of `DELETE /user/start-anew`: who asked thought better of it, or somebody else of the
 * account says that it was not them.
 */
export const EndAccountResetQuery = z.strictObject({ reason: z.enum(["cancelled", "objected"]) });
export type EndAccountResetQuery = z.infer<typeof EndAccountResetQuery>;

/** Query of `POST /mails/unsubscribe` (RFC 8058): the token of the mail's own header. */
export const UnsubscribeQuery = z.strictObject({ token: z.string().min(1).max(2_048) });
