import { PortalError, toPortalError, type ErrorCode } from "@relicario/shared/errors";
import { ErrorResponse, ErrorTimeout } from "oidc-client-ts";

/** Codes of the identity provider's errors that have their own code (specification, section 8). */
const codesByError: Readonly<Record<string, ErrorCode>> = {
  login_required: "login_required",
  consent_required: "consent_required",
  interaction_required: "interaction_required",
  account_selection_required: "account_selection_required",
};

/**
 * Maps an error of the sign-in client to a code: by default `login_failed`, also when the provider
 * is unreachable.
 */
export function toSignInError(error: unknown): PortalError {
  if (error instanceof ErrorResponse)
    return new PortalError(codesByError[error.error ?? ""] ?? "login_failed", { cause: error });
  if (error instanceof ErrorTimeout) return new PortalError("timed_out", { cause: error });
  const portalError = toPortalError(error);
  return portalError.code === "unknown" ? new PortalError("login_failed", { cause: error }) : portalError;
}

/**
 * Whether a retry may help: the provider did not respond, or reported a server error. Any other
 * error would occur again.
 */
export function isTransientSignInError(error: unknown): boolean {
  return (
    !(error instanceof ErrorResponse) || error.error === "server_error" || error.error === "temporarily_unavailable"
  );
}
