import { grantAccount, type AccountScope } from "./actor.ts";

describe("an account's scope", () => {
  it("is not made of ids that somebody sent", () => {
    // @ts-expect-error nobody granted it
    const scope: AccountScope = { accountId: "", vendorId: "" };
    expect(scope).not.toEqual(grantAccount("", ""));
  });
});
