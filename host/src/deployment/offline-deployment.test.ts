import { readOfflineDeployment, storeOfflineDeployment } from "./offline-deployment.ts";

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
    storeOfflineDeployment(forbidden, "relicario", {});
    expect(readOfflineDeployment(forbidden, "relicario")).toBeNull();
  });

  it("is kept apart by vendor", () => {
    storeOfflineDeployment(localStorage, "acme", { a: 1 });
    expect(readOfflineDeployment(localStorage, "acme")).toEqual({ a: 1 });
    expect(readOfflineDeployment(localStorage, "other")).toBeNull();
  });
});
