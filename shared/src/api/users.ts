import { z } from "zod";

import { userNamePattern } from "./limits.ts";
import { bytesB64u, Id, Timestamp } from "./wire.ts";

export const UserName = z.string().regex(userNamePattern);
export const ContactEmail = z.email().max(254);

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
  /** When the first of the account's secrets is due for a rehearsal, as a device says; all that the service learns of them. */
  rehearsal_due_at: Timestamp.nullable(),
  created_at: Timestamp,
});
export type Me = z.infer<typeof Me>;

/** Body of `POST /user/me`: what is to change. */
export const UpdateMe = z.strictObject({ user_name: UserName.optional(), contact_email: ContactEmail.optional(), rehearsal_due_at: Timestamp.nullable().optional() });
export type UpdateMe = z.infer<typeof UpdateMe>;

/** Query of `GET /user/validate-contact-email`: what the mail's link carried. 128 bits, once, within 24 hours. */
export const ValidateContactEmail = z.strictObject({ value: ContactEmail, nonce: bytesB64u(16, { exact: true }) });
export const ContactEmailValidated = z.strictObject({ valid: z.literal(true) });
