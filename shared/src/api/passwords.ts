import { z } from "zod";

import { maxPasswordLength } from "./limits.ts";

/**
 * Body of `POST /user/change-password`. Both are used exactly as typed; what a password has to be
 * is the identity provider's to say.
 */
export const ChangePasswordBody = z.strictObject({
  old_password: z.string().min(1).max(maxPasswordLength),
  new_password: z.string().min(1).max(maxPasswordLength),
});
export type ChangePasswordBody = z.infer<typeof ChangePasswordBody>;

/**
 * A rule of the identity provider for new passwords. `value` is a number of characters, or of
 * former passwords for `history`. `other` is a rule that this product has no words for; `text` is
 * how the provider writes it.
 */
export const PasswordRule = z.strictObject({
  rule: z.enum([
    "min_length",
    "max_length",
    "digits",
    "lower_case",
    "upper_case",
    "special_chars",
    "not_name",
    "not_email",
    "not_common",
    "history",
    "other",
  ]),
  value: z.int().optional(),
  text: z.string().optional(),
});
export type PasswordRule = z.infer<typeof PasswordRule>;

/** Answer of `GET /user/password`: whether the password can be changed here, and by which rules. */
export const PasswordRules = z.strictObject({ changeable: z.boolean(), rules: z.array(PasswordRule) });
export type PasswordRules = z.infer<typeof PasswordRules>;

/**
 * One of `errors` in the 422 of a password change. `reason` is `wrong` for the old password; for
 * the new one the `rule` that it breaks, or `refused`. `text` is what the provider said, in its own
 * words, where it said any.
 */
export const PasswordRejection = z.looseObject({
  path: z.enum(["/old_password", "/new_password"]),
  reason: z.string(),
  value: z.int().optional(),
  text: z.string().optional(),
});
export type PasswordRejection = z.infer<typeof PasswordRejection>;
