import type { PasswordRejection, PasswordRule } from "@relicario/shared/api";

interface PasswordChange {
  /** The person's id at the provider, `sub` of its tokens. */
  readonly subject: string;
  readonly oldPassword: string;
  readonly newPassword: string;
  /** The provider's session to keep, `sid` of its tokens; null if unknown: then all end. */
  readonly keepSessionId: string | null;
}

/** The identity provider's interface for passwords. Passwords are sent only there. */
export interface PasswordProvider {
  /** @throws Problem `service_unavailable` */
  readRules(): Promise<PasswordRule[]>;
  /**
   * Changes the password and ends the person's other sessions at the provider.
   *
   * @returns why it is refused, with nothing changed; empty on success
   * @throws Problem `too_many_requests`, `service_unavailable`, `not_found` for a person unknown to
   *   the provider
   */
  changePassword(passwordChange: PasswordChange): Promise<PasswordRejection[]>;
}
