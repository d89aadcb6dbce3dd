import { recall, remember } from "./memory.ts";

const forbidden = {
  getItem: () => {
    throw new DOMException("forbidden", "SecurityError");
  },
  setItem: () => {
    throw new DOMException("full", "QuotaExceededError");
  },
};

describe("what a device remembers of deployments", () => {
  it("is nothing when storage is forbidden, and that is no error", () => {
    remember(forbidden, "relicario", { sequence: 1, document: {} });
    expect(recall(forbidden, "relicario")).toBeNull();
  });

  it("is kept apart by vendor", () => {
    remember(localStorage, "acme", { sequence: 3, document: { a: 1 } });
    expect(recall(localStorage, "acme")).toEqual({ sequence: 3, document: { a: 1 } });
    expect(recall(localStorage, "other")).toBeNull();
  });
});
