import { sharedConfigForHost, sharedModules, sharedConfigForRemote } from "./shared-packages.ts";

describe("the table of shared packages", () => {
  it("has the same names and ranges in the host and in the remotes", () => {
    const [provided, consumed] = [sharedConfigForHost(), sharedConfigForRemote()];
    expect(Object.keys(provided)).toEqual(Object.keys(consumed));
    for (const [name, { requiredVersion }] of Object.entries(consumed))
      expect(provided[name]).toMatchObject({ singleton: true, requiredVersion });
  });

  it("leaves a remote nothing of its own to fall back to", () => {
    for (const shared of Object.values(sharedConfigForRemote()))
      expect(shared).toMatchObject({ import: false, strictVersion: true, singleton: true });
  });

  it("takes a version from the list, as a range", () => {
    expect(sharedConfigForRemote()["react"]?.requiredVersion).toBe(`^${sharedModules["react"]?.version ?? ""}`);
  });
});
