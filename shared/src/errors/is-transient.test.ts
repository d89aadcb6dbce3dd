import { errorCodes, isTransient, PortalError } from "./index.ts";

describe("isTransient", () => {
  it("holds for no answer, and for an answer that says that there is trouble for a moment; for no other code", () => {
    expect(errorCodes.filter((code) => isTransient(new PortalError(code)))).toEqual([
      "too_many_requests",
      "internal_error",
      "service_unavailable",
      "offline",
      "timed_out",
    ]);
  });

  it("holds for nothing that is not a PortalError", () => {
    expect(isTransient(new TypeError("Failed to fetch"))).toBe(false);
    expect(isTransient({ code: "offline" })).toBe(false);
    expect(isTransient(undefined)).toBe(false);
  });
});
