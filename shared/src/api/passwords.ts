import { z } from "zod";

import { maxPasswordLength } from "./limits.ts";
import { plainText } from "./wire.ts";

/**
 * Body of `POST /user/change-password`. Both passwords are used exactly as typed. The identity
 * provider checks its own rules.
 */
export const ChangePasswordBody = z.strictObject({
  old_password: plainText(maxPasswordLength).min(1),
  new_password: plainText(maxPasswordLength).min(1),
});
export type ChangePasswordBody = z.infer<typeof ChangePasswordBody>;

/**
 * Rule of the identity provider for new passwords. `value` is a number of characters or, for
 * `history`, of former passwords. `other` is a rule that the portal does not translate; `text` is
 * the provider's wording.
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

/** Response of `GET /user/password`: whether the password can be changed here, and its rules. */
export const PasswordRules = z.strictObject({ changeable: z.boolean(), rules: z.array(PasswordRule).max(20) });
export type PasswordRules = z.infer<typeof PasswordRules>;

/**
 * Element of `errors` in the 422 response to a password change. `reason` is `wrong` for the old
 * password. For the new password it is the broken `rule`, or `refused`. `text` is the provider's
 * wording, if any.
 */
export const PasswordRejection = z.looseObject({
  path: z.enum(["/old_password", "/new_password"]),
  reason: z.string(),
  value: z.int().optional(),
  text: z.string().optional(),
});
export type PasswordRejection = z.infer<typeof PasswordRejection>;
