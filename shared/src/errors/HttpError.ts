import type { ErrorCode } from "./codes.ts";

/** What a problem document (RFC 9457) of the service holds. */
export interface Problem {
  readonly title?: string | undefined;
  readonly detail?: string | undefined;
  readonly code?: string | undefined;
  readonly [member: string]: unknown;
}

/**
 * How a call failed, kept as the `cause` of a PortalError. Safe to log by construction: the path has no query, and the
 * body is not enumerable, so no logger or `JSON.stringify` shows it.
 */
export class HttpError extends Error {
  override readonly name = "HttpError";
  readonly status: number;
  readonly statusText: string;
  readonly path: string;
  readonly requestId: string | null;
  declare readonly problem: Problem | null;

  constructor(facts: { status: number; statusText: string; path: string; requestId: string | null; problem: Problem | null }) {
    super(`${String(facts.status)} ${facts.statusText}`);
    this.status = facts.status;
    this.statusText = facts.statusText;
    this.path = facts.path.split(/[?#]/, 1)[0] ?? "";
    this.requestId = facts.requestId;
    Object.defineProperty(this, "problem", { value: facts.problem, enumerable: false });
  }
}

const byStatus: Readonly<Record<number, { code: ErrorCode; title: string }>> = {
  400: { code: "bad_request", title: "Bad Request" },
  401: { code: "unauthorized", title: "Unauthorized" },
  403: { code: "forbidden", title: "Forbidden" },
  404: { code: "not_found", title: "Not found" },
  409: { code: "conflict", title: "Conflict" },
  413: { code: "payload_too_large", title: "Payload Too Large" },
  415: { code: "unsupported_media_type", title: "Unsupported Media Type" },
  422: { code: "validation_error", title: "Validation Error" },
  429: { code: "too_many_requests", title: "Too Many Requests" },
  500: { code: "internal_error", title: "Internal Server Error" },
  502: { code: "service_unavailable", title: "Bad Gateway" },
  503: { code: "service_unavailable", title: "Service Unavailable" },
  504: { code: "service_unavailable", title: "Gateway Timeout" },
};

/** The code and standard title of a status (specification, section 8); `unknown` for one that is not listed. */
export function errorOfStatus(status: number): { code: ErrorCode; title: string } {
  return byStatus[status] ?? { code: status >= 500 ? "service_unavailable" : "unknown", title: "Error" };
}
