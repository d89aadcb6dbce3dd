import type { PasswordRejection, PasswordRule } from "@relicario/shared/api";

interface PasswordChange {
  /** The provider's id of the person, `sub` of its tokens. */
  readonly subject: string;
  readonly oldPassword: string;
  readonly newPassword: string;
  /**
   * The provider's session that goes on, `sid` of its tokens; null where they named none: then all
   * end.
   */
  readonly keepSessionId: string | null;
}

/**
 * The identity provider's own interface for passwords. What is typed goes there and nowhere else.
 */
export interface PasswordProvider {
  /** By which rules it takes a new one. @throws Problem `service_unavailable` */
  rules(): Promise<PasswordRule[]>;
  /**
   * Changes the password and ends the person's other sessions there.
   *
   * @returns what the provider refuses; nothing was changed then. Empty when it is done.
   * @throws Problem `too_many_requests`, `service_unavailable`, `not_found` when the provider does
   *   not know the person
   */
  change(passwordChange: PasswordChange): Promise<PasswordRejection[]>;
}
