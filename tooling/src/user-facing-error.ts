/**
 * Something the person can put right: the message is one line that says what and how. Shown without
 * a stack.
 */
export class UserFacingError extends Error {
  override readonly name = "UserFacingError";
}
