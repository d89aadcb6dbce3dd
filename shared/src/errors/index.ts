export { errorCodes, isErrorCode, type ErrorCode } from "./codes.ts";
export { errorOfStatus, HttpError, type Problem } from "./HttpError.ts";
export { isPortalError, PortalError, toPortalError, type ErrorDetails } from "./PortalError.ts";
