import * as Comlink from "comlink";
import { isErrorCode, PortalError, toPortalError, type ErrorDetails } from "@relicario/shared/errors";

/** Comlink's own handler: it alone recognises what was thrown, by a symbol that it does not export. */
const original = Comlink.transferHandlers.get("throw");

/**
 * Makes PortalErrors cross Comlink with their code and details; anything else that is thrown arrives as `unknown`, without
 * its message, stack or cause, as these may say more than they should. Call it once on each side, before the first call.
 */
export function carryPortalErrors(): void {
  Comlink.transferHandlers.set("throw", {
    canHandle: (value): value is { value: unknown } => original?.canHandle(value) ?? false,
    serialize: ({ value }: { value: unknown }) => {
      const { code, details } = toPortalError(value);
      return [{ code, details }, []];
    },
    deserialize: (sent: unknown): never => {
      throw rebuild(sent);
    },
  });
}

function rebuild(sent: unknown): PortalError {
  if (typeof sent !== "object" || sent === null || !("code" in sent) || !isErrorCode(sent.code)) return new PortalError("unknown");
  return new PortalError(sent.code, { details: "details" in sent && isDetails(sent.details) ? sent.details : {} });
}

function isDetails(value: unknown): value is ErrorDetails {
  return (
    typeof value === "object" &&
    value !== null &&
    Object.values(value).every(
      (fact) =>
        typeof fact === "string" ||
        typeof fact === "number" ||
        typeof fact === "boolean" ||
        (Array.isArray(fact) && fact.every((item) => typeof item === "string")),
    )
  );
}
