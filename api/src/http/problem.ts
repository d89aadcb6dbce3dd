import { PortalError, type ErrorCode } from "@relicario/shared/errors";

/** Status of each code; any other code becomes `internal_error`. */
export const statusByCode = {
  bad_request: 400,
  unauthorized: 401,
  token_invalid: 401,
  token_expired: 401,
  forbidden: 403,
  login_required: 403,
  vendor_unknown: 403,
  vendor_disabled: 403,
  wrong_password: 403,
  not_found: 404,
  no_keyring: 404,
  share_unavailable: 404,
  request_unavailable: 404,
  conflict: 409,
  id_taken: 409,
  version_conflict: 409,
  state_conflict: 409,
  too_many_versions: 409,
  request_closed: 409,
  limit_reached: 409,
  upload_incomplete: 409,
  content_gone: 410,
  payload_too_large: 413,
  quota_exceeded: 413,
  unsupported_media_type: 415,
  range_not_satisfiable: 416,
  digest_mismatch: 422,
  validation_error: 422,
  keyring_change_invalid: 422,
  too_many_requests: 429,
  internal_error: 500,
  service_unavailable: 503,
} as const satisfies Partial<Record<ErrorCode, number>>;

export type ProblemCode = keyof typeof statusByCode;

export function isProblemCode(code: string): code is ProblemCode {
  return Object.hasOwn(statusByCode, code);
}

export interface ProblemOptions {
  readonly cause?: unknown;
  /** One sentence for developers; never contains a value from the request. */
  readonly detail?: string;
  /** Further members of the problem document, such as `keyring`. */
  readonly members?: Readonly<Record<string, unknown>>;
  readonly headers?: Readonly<Record<string, string>>;
}

/** The only error that handlers throw; on-error.ts makes the response. */
export class Problem extends PortalError {
  declare readonly code: ProblemCode;
  readonly options: ProblemOptions;

  constructor(code: ProblemCode, options: ProblemOptions = {}) {
    super(code, "cause" in options ? { cause: options.cause } : {});
    this.options = options;
  }
}
