import { isErrorCode, type ErrorCode } from "./codes.ts";

/**
 * Facts that a message may need, such as why a picture was refused. Never contains a key, token,
 * passphrase, image or plaintext.
 */
export type ErrorDetails = Readonly<Record<string, string | number | boolean | readonly string[]>>;

/**
 * The only type of error that packages pass to each other. Branch on {@link code}, never on the
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

/** Whether it is a PortalError with one of these codes or, without codes, any PortalError. */
export function isPortalError(error: unknown, ...codes: readonly ErrorCode[]): error is PortalError {
  return isOfAnyBundle(error) && (codes.length === 0 || codes.includes(error.code));
}

/**
 * Converts a thrown value. A PortalError stays, an aborted call becomes `cancelled`, anything else
 * becomes `unknown` with its cause.
 */
export function toPortalError(error: unknown): PortalError {
  if (isOfAnyBundle(error)) return error;
  if (isAbortError(error)) return new PortalError("cancelled", { cause: error });
  return new PortalError("unknown", { cause: error });
}

/** Not by the class: each separately built script of a page has its own. */
function isOfAnyBundle(error: unknown): error is PortalError {
  return error instanceof Error && error.name === "PortalError" && "code" in error && isErrorCode(error.code);
}

/** Compares the name, not the class: the error may come from a worker or another realm. */
function isAbortError(error: unknown): boolean {
  return typeof error === "object" && error !== null && "name" in error && error.name === "AbortError";
}
