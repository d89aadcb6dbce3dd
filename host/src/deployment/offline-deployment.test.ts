import { readOfflineDeployment, storeOfflineDeployment } from "./offline-deployment.ts";

const forbidden = {
  getItem: () => {
    throw new DOMException("forbidden", "SecurityError");
  },
  setItem: () => {
    throw new DOMException("full", "QuotaExceededError");
  },
};

describe("readOfflineDeployment", () => {
  it("returns null where storage is forbidden", () => {
    storeOfflineDeployment(forbidden, "relicario", {});
    expect(readOfflineDeployment(forbidden, "relicario")).toBeNull();
  });

  it("reads only the vendor's own document", () => {
    storeOfflineDeployment(localStorage, "acme", { a: 1 });
    expect(readOfflineDeployment(localStorage, "acme")).toEqual({ a: 1 });
    expect(readOfflineDeployment(localStorage, "other")).toBeNull();
  });
});
