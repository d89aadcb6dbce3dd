import type { ErrorCode } from "./codes.ts";

export interface StatusDescription {
  readonly code: ErrorCode;
  readonly title: string;
}

/**
 * Titles and codes of failed calls by status (specification, section 8). 404 and 422 have the
 * specification's titles, the other statuses those of the HTTP status registry (RFC 9110 and
 * others).
 */
const catalogue: Readonly<Record<number, StatusDescription>> = {
  400: { code: "bad_request", title: "Bad Request" },
  401: { code: "unauthorized", title: "Unauthorized" },
  402: { code: "forbidden", title: "Payment Required" },
  403: { code: "forbidden", title: "Forbidden" },
  404: { code: "not_found", title: "Not found" },
  405: { code: "bad_request", title: "Method Not Allowed" },
  406: { code: "bad_request", title: "Not Acceptable" },
  408: { code: "timed_out", title: "Request Timeout" },
  409: { code: "conflict", title: "Conflict" },
  410: { code: "not_found", title: "Gone" },
  411: { code: "bad_request", title: "Length Required" },
  412: { code: "conflict", title: "Precondition Failed" },
  413: { code: "payload_too_large", title: "Payload Too Large" },
  414: { code: "bad_request", title: "URI Too Long" },
  415: { code: "unsupported_media_type", title: "Unsupported Media Type" },
  416: { code: "bad_request", title: "Range Not Satisfiable" },
  421: { code: "bad_request", title: "Misdirected Request" },
  422: { code: "validation_error", title: "Validation Error" },
  423: { code: "conflict", title: "Locked" },
  425: { code: "service_unavailable", title: "Too Early" },
  426: { code: "bad_request", title: "Upgrade Required" },
  428: { code: "conflict", title: "Precondition Required" },
  429: { code: "too_many_requests", title: "Too Many Requests" },
  431: { code: "bad_request", title: "Request Header Fields Too Large" },
  451: { code: "forbidden", title: "Unavailable For Legal Reasons" },
  500: { code: "internal_error", title: "Internal Server Error" },
  501: { code: "internal_error", title: "Not Implemented" },
  502: { code: "service_unavailable", title: "Bad Gateway" },
  503: { code: "service_unavailable", title: "Service Unavailable" },
  504: { code: "service_unavailable", title: "Gateway Timeout" },
  507: { code: "internal_error", title: "Insufficient Storage" },
};

/** Title of an unlisted status. The response's own status text then says more. */
export const genericTitle = "Error";

/** Describes a status. An unlisted status gets a generic error. */
export function describeStatus(status: number): StatusDescription {
  return catalogue[status] ?? { code: status >= 500 ? "service_unavailable" : "unknown", title: genericTitle };
}
