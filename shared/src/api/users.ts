import { z } from "zod";

import { userNamePattern } from "./limits.ts";
import { base64urlBytes, Id, plainText, Timestamp } from "./wire.ts";

export const UserName = z.string().regex(userNamePattern);
export const ContactEmail = z.email().max(254);

/** Topics of mails. Only `new_device` is a security notice. */
export const mailTopics = [
  "share_opened",
  "share_expiring",
  "request_answered",
  "shared_with_you",
  "new_device",
  "rehearsal",
] as const;
export type MailTopic = (typeof mailTopics)[number];
/** A topic is true if mails about it are sent. */
export const NotificationSettings = z.strictObject(
  Object.fromEntries(mailTopics.map((topic) => [topic, z.boolean()])) as Record<MailTopic, z.ZodBoolean>,
);
export type NotificationSettings = z.infer<typeof NotificationSettings>;

export const Me = z.strictObject({
  user_id: Id,
  user_name: z.string(),
  /** User name at the identity provider; read only. */
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
   * When the first copy check is due, reported by a device. The service learns nothing else about
   * copy checks.
   */
  rehearsal_due_at: Timestamp.nullable(),
  notifications: NotificationSettings,
  /** Whether the portal may send performance measurements for this account. */
  telemetry: z.boolean(),
  /** When the account will be deleted, or null. */
  deletion_due_at: Timestamp.nullable(),
  created_at: Timestamp,
});
export type Me = z.infer<typeof Me>;

/** Body of `POST /user/me`: the members to change. */
export const UpdateMeBody = z.strictObject({
  user_name: UserName.optional(),
  contact_email: ContactEmail.optional(),
  rehearsal_due_at: Timestamp.nullable().optional(),
  notifications: NotificationSettings.partial().optional(),
  telemetry: z.boolean().optional(),
});
export type UpdateMeBody = z.infer<typeof UpdateMeBody>;

/**
 * Query of `POST /user/validate-username`. Accepts any text. A 422 response says why the name is
 * not available.
 */
export const ValidateUserNameQuery = z.strictObject({ username: plainText(256) });
export const ValidateUserNameResponse = z.strictObject({ valid: z.literal(true) });
/** Why a user name is not available, as `reason` of the problem's `errors`. */
export const userNameRejections = ["taken", "malformed"] as const;

/**
 * Query of `GET /user/validate-contact-email`, which the link in the mail contains. `nonce` has 128
 * bits and is valid once, for 24 hours.
 */
export const ValidateContactEmailQuery = z.strictObject({
  value: ContactEmail,
  nonce: base64urlBytes(16, { exact: true }),
});
export const ValidateContactEmailResponse = z.strictObject({ valid: z.literal(true) });

/**
 * Status of an account reset (`/user/start-anew`). `none`: never requested, or lapsed. `waiting`:
 * until `ready_at`. `ready`: from then on. `objected`, `cancelled` and `begun` (the account was
 * reset): since `ended_at`. After `begun` the service keeps the earlier data until `kept_until`.
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
 * Query of `DELETE /user/start-anew`. `cancelled`: by the requester.
 * `objected`: by another device of the account.
 */
export const EndAccountResetQuery = z.strictObject({ reason: z.enum(["cancelled", "objected"]) });
export type EndAccountResetQuery = z.infer<typeof EndAccountResetQuery>;

/**
 * Query of `POST /mails/unsubscribe` (RFC 8058): the token in the mail's unsubscribe link.
 */
export const UnsubscribeQuery = z.strictObject({ token: plainText(2_048).min(1) });
