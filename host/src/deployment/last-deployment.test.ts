import { readLastDeployment, storeLastDeployment } from "./last-deployment.ts";

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
    storeLastDeployment(forbidden, "relicario", {});
    expect(readLastDeployment(forbidden, "relicario")).toBeNull();
  });

  it("is kept apart by vendor", () => {
    storeLastDeployment(localStorage, "acme", { a: 1 });
    expect(readLastDeployment(localStorage, "acme")).toEqual({ a: 1 });
    expect(readLastDeployment(localStorage, "other")).toBeNull();
  });
});
