import { PortalError, toPortalError, type ErrorCode } from "@relicario/shared/errors";
import { ErrorResponse, ErrorTimeout } from "oidc-client-ts";

/** Answers of the identity provider that are handled by name (specification, section 8). */
const codesByAnswer: Readonly<Record<string, ErrorCode>> = {
  login_required: "login_required",
  consent_required: "consent_required",
  interaction_required: "interaction_required",
  account_selection_required: "account_selection_required",
};

/**
 * Any failure of the sign-in client as a code; `login_failed` is the default, also where the
 * provider cannot be reached.
 */
export function toSignInError(error: unknown): PortalError {
  if (error instanceof ErrorResponse)
    return new PortalError(codesByAnswer[error.error ?? ""] ?? "login_failed", { cause: error });
  if (error instanceof ErrorTimeout) return new PortalError("timed_out", { cause: error });
  const portalError = toPortalError(error);
  return portalError.code === "unknown" ? new PortalError("login_failed", { cause: error }) : portalError;
}

/**
 * `isTransient` for what the sign-in client throws: the provider did not answer, or answered that
 * it is in trouble. Anything else that it answers it would answer again.
 */
export function isTransientSignInError(error: unknown): boolean {
  return (
    !(error instanceof ErrorResponse) || error.error === "server_error" || error.error === "temporarily_unavailable"
  );
}
