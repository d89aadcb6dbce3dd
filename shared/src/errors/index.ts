export { errorCodes, isErrorCode, type ErrorCode } from "./codes.ts";
export { HttpError, type HttpErrorInit, type ProblemDetails } from "./HttpError.ts";
export { isTransient } from "./is-transient.ts";
export { isPortalError, PortalError, toPortalError, type ErrorDetails } from "./PortalError.ts";
export { describeStatus, genericTitle, type StatusDescription } from "./statuses.ts";
