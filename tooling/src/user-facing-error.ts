/** An error that the user can fix. The message is one line that says how, shown without a stack. */
export class UserFacingError extends Error {
  override readonly name: string = "UserFacingError";
}
