import { errorCodes, isTransient, PortalError } from "./index.ts";

describe("isTransient", () => {
  it("returns true without a response and for the service's temporary problems, and false for every other code", () => {
    expect(errorCodes.filter((code) => isTransient(new PortalError(code)))).toEqual([
      "too_many_requests",
      "internal_error",
      "service_unavailable",
      "offline",
      "timed_out",
    ]);
  });

  it("returns false for any other value than a PortalError", () => {
    expect(isTransient(new TypeError("Failed to fetch"))).toBe(false);
    expect(isTransient({ code: "offline" })).toBe(false);
    expect(isTransient(undefined)).toBe(false);
  });
});
