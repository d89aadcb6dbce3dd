/** Members of the service's problem documents (RFC 9457). */
export interface ProblemDetails {
  readonly title?: string | undefined;
  readonly detail?: string | undefined;
  readonly code?: string | undefined;
  readonly [member: string]: unknown;
}

export interface HttpErrorInit {
  readonly status: number;
  readonly statusText: string;
  /** Path without query and fragment. */
  readonly path: string;
  readonly requestId: string | null;
  readonly problem: ProblemDetails | null;
  /** The response body: parsed if JSON, otherwise text; null if empty. */
  readonly body?: unknown;
}

/**
 * Response to a failed call. It is the `cause` of a PortalError. It is safe to log: the path has no
 * query, and the body is not enumerable, so that no logger and no `JSON.stringify` shows it.
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
