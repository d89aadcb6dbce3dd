import { createAccountScope, type AccountScope } from "./actor.ts";

describe("AccountScope", () => {
  it("cannot be built from ids of a request", () => {
    // @ts-expect-error only actor.ts can create one
    const scope: AccountScope = { accountId: "", vendorId: "" };
    expect(scope).not.toEqual(createAccountScope("", ""));
  });
});
