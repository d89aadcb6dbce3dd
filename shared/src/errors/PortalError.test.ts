import { errorCodes, isErrorCode, isPortalError, PortalError, toPortalError } from "./index.ts";

describe("PortalError", () => {
  it("has its code as its message, a cause and details", () => {
    const cause = new Error("x");
    const error = new PortalError("picture_too_plain", { cause, details: { reasons: ["coverage"] } });
    expect(error.message).toBe("picture_too_plain");
    expect(error.cause).toBe(cause);
    expect(error.details).toEqual({ reasons: ["coverage"] });
  });

  it("lists each code once", () => {
    expect(new Set(errorCodes).size).toBe(errorCodes.length);
    expect(errorCodes.every((code) => isErrorCode(code))).toBe(true);
    expect(isErrorCode("made_up")).toBe(false);
  });
});

describe("isPortalError", () => {
  it("returns true for any of the given codes or, without codes, for every PortalError", () => {
    const error = new PortalError("offline");
    expect(isPortalError(error)).toBe(true);
    expect(isPortalError(error, "not_found", "offline")).toBe(true);
    expect(isPortalError(error, "not_found")).toBe(false);
    expect(isPortalError(new Error("offline"), "offline")).toBe(false);
  });

  it("matches an error of the class that another script of the page has", () => {
    class PortalErrorOfAnotherScript extends Error {
      override readonly name = "PortalError";
      readonly details = {};
      readonly code: string;
      constructor(code: string) {
        super(code);
        this.code = code;
      }
    }
    const error: unknown = new PortalErrorOfAnotherScript("offline");
    expect(isPortalError(error, "offline")).toBe(true);
    expect(toPortalError(error)).toBe(error);
    expect(isPortalError(new PortalErrorOfAnotherScript("made_up"))).toBe(false);
  });
});

describe("toPortalError", () => {
  it("keeps a PortalError, converts an abort to `cancelled`, and any other error to `unknown` with its cause", () => {
    const error = new PortalError("offline");
    expect(toPortalError(error)).toBe(error);
    expect(toPortalError(new DOMException("x", "AbortError")).code).toBe("cancelled");
    expect(toPortalError("thrown text")).toMatchObject({ code: "unknown", cause: "thrown text" });
  });
});
