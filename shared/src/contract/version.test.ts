import shared from "../../package.json" with { type: "json" };
import { CONTRACT_VERSION } from "./remote.ts";

describe("CONTRACT_VERSION", () => {
  it("is the version of the package", () => {
    expect(CONTRACT_VERSION).toBe(shared.version);
  });
});
