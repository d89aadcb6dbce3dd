/** What a problem document (RFC 9457) of the service holds. */
export interface ProblemDetails {
  readonly title?: string | undefined;
  readonly detail?: string | undefined;
  readonly code?: string | undefined;
  readonly [member: string]: unknown;
}

/** What is known of a failed call. */
export interface HttpErrorInit {
  readonly status: number;
  readonly statusText: string;
  /** A query or fragment in it is cut off. */
  readonly path: string;
  readonly requestId: string | null;
  readonly problem: ProblemDetails | null;
  /** The answer as it came: parsed where it was JSON, text otherwise, null where there was none. */
  readonly body?: unknown;
}

/**
 * How a call failed, kept as the `cause` of a PortalError: status, status text and body. Safe to
 * log by construction: the path has no query, and the body is not enumerable, so no logger or
 * `JSON.stringify` shows it.
 */
export class HttpError extends Error {
  override readonly name = "HttpError";
  readonly status: number;
  readonly statusText: string;
  readonly path: string;
  readonly requestId: string | null;
  declare readonly problem: ProblemDetails | null;
  declare readonly body: unknown;

  constructor(failure: HttpErrorInit) {
    super(`${String(failure.status)} ${failure.statusText}`);
    this.status = failure.status;
    this.statusText = failure.statusText;
    this.path = failure.path.split(/[?#]/, 1)[0] ?? "";
    this.requestId = failure.requestId;
    Object.defineProperty(this, "problem", { value: failure.problem, enumerable: false });
    Object.defineProperty(this, "body", { value: failure.body ?? failure.problem, enumerable: false });
  }
}
