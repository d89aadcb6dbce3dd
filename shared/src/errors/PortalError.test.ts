import { errorCodes, isErrorCode, isPortalError, PortalError, toPortalError } from "./index.ts";

describe("PortalError", () => {
  it("carries its code as message, its cause and plain details", () => {
    const cause = new Error("x");
    const error = new PortalError("picture_too_plain", { cause, details: { reasons: ["coverage"] } });
    expect(error.message).toBe("picture_too_plain");
    expect(error.cause).toBe(cause);
    expect(error.details).toEqual({ reasons: ["coverage"] });
  });

  it("has no double code in its list", () => {
    expect(new Set(errorCodes).size).toBe(errorCodes.length);
    expect(errorCodes.every((code) => isErrorCode(code))).toBe(true);
    expect(isErrorCode("made_up")).toBe(false);
  });
});

describe("isPortalError", () => {
  it("asks for any of the named codes, or none", () => {
    const error = new PortalError("offline");
    expect(isPortalError(error)).toBe(true);
    expect(isPortalError(error, "not_found", "offline")).toBe(true);
    expect(isPortalError(error, "not_found")).toBe(false);
    expect(isPortalError(new Error("offline"), "offline")).toBe(false);
  });
});

describe("toPortalError", () => {
  it("keeps a PortalError, calls an abort cancelled, and anything else unknown with its cause", () => {
    const error = new PortalError("offline");
    expect(toPortalError(error)).toBe(error);
    expect(toPortalError(new DOMException("x", "AbortError")).code).toBe("cancelled");
    expect(toPortalError("thrown text")).toMatchObject({ code: "unknown", cause: "thrown text" });
  });
});
