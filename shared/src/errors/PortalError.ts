import type { ErrorCode } from "./codes.ts";

/**
 * Plain facts for the person, such as the gate's reasons. Never a key, token, passphrase, image or
 * plaintext.
 */
export type ErrorDetails = Readonly<Record<string, string | number | boolean | readonly string[]>>;

/**
 * The only error type that crosses a package boundary. Branch on {@link code}, never on the
 * message.
 */
export class PortalError extends Error {
  override readonly name = "PortalError"; // fixed string: minifiers rename classes
  readonly code: ErrorCode;
  readonly details: ErrorDetails;

  constructor(code: ErrorCode, options: { cause?: unknown; details?: ErrorDetails } = {}) {
    super(code, "cause" in options ? { cause: options.cause } : undefined);
    this.code = code;
    this.details = options.details ?? {};
  }
}

/** True for an error with one of these codes; any code when none is named. */
export function isPortalError(error: unknown, ...codes: readonly ErrorCode[]): error is PortalError {
  return error instanceof PortalError && (codes.length === 0 || codes.includes(error.code));
}

/**
 * Any thrown value as a PortalError: itself, an aborted call as `cancelled`, all else as `unknown`
 * with its cause kept.
 */
export function toPortalError(error: unknown): PortalError {
  if (error instanceof PortalError) return error;
  if (isAbortError(error)) return new PortalError("cancelled", { cause: error });
  return new PortalError("unknown", { cause: error });
}

/** By name, not by class: the error may come from a worker or another realm. */
function isAbortError(error: unknown): boolean {
  return typeof error === "object" && error !== null && "name" in error && error.name === "AbortError";
}
