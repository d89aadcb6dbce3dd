import { PortalError, toPortalError, type ErrorCode } from "@relicario/shared/errors";
import type { ErrorResponse } from "oidc-client-ts";

/** Answers of the identity provider that are handled by name (specification, section 8). */
const named: Readonly<Record<string, ErrorCode>> = {
  login_required: "login_required",
  consent_required: "consent_required",
  interaction_required: "interaction_required",
  account_selection_required: "account_selection_required",
};

/** Any failure of the sign-in client as a code; `login_failed` is the default. */
export function signInError(error: unknown): PortalError {
  if (isAnswer(error)) return new PortalError(named[error.error ?? ""] ?? "login_failed", { cause: error });
  if (error instanceof Error && error.name === "ErrorTimeout") return new PortalError("timed_out", { cause: error });
  // fetch rejects with a TypeError when the provider cannot be reached.
  if (error instanceof TypeError) return new PortalError("login_failed", { cause: error });
  const known = toPortalError(error);
  if (known.code !== "unknown") return known;
  // The client throws plain errors where the subject changed while renewing.
  const isOther = error instanceof Error && named[error.message] !== undefined;
  return new PortalError(isOther ? "login_required" : "login_failed", { cause: error });
}

/** Another attempt may help: the provider did not answer, or answered that it has trouble. What it refuses it refuses again. */
export function mayPass(error: unknown): boolean {
  return !isAnswer(error) || error.error === "server_error" || error.error === "temporarily_unavailable";
}

/** An error that the provider answered with. Known by its name: its class is in a library that may not be here. */
function isAnswer(error: unknown): error is ErrorResponse {
  return error instanceof Error && error.name === "ErrorResponse";
}
