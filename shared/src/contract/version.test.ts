import shared from "../../package.json" with { type: "json" };
import { CONTRACT_VERSION } from "./remote.ts";

describe("the version of the contract", () => {
  it("is that of the package which teams build against", () => {
    expect(CONTRACT_VERSION).toBe(shared.version);
  });
});
