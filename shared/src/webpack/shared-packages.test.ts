import { isInCaretRange } from "../contract/compatibility.ts";
import { sharedConfigForHost, sharedModules, sharedConfigForRemote } from "./shared-packages.ts";

describe("shared packages", () => {
  it("have the same names and ranges in host and remotes", () => {
    const [provided, consumed] = [sharedConfigForHost(), sharedConfigForRemote()];
    expect(Object.keys(provided)).toEqual(Object.keys(consumed));
    for (const [name, { requiredVersion }] of Object.entries(consumed))
      expect(provided[name]).toMatchObject({ singleton: true, requiredVersion });
  });

  it("have no fallback in a remote", () => {
    for (const shared of Object.values(sharedConfigForRemote()))
      expect(shared).toMatchObject({ import: false, strictVersion: true, singleton: true });
  });

  it("are required by remotes in the lowest tested version", () => {
    for (const [name, { requiredVersion }] of Object.entries(sharedConfigForRemote())) {
      expect(requiredVersion).toBe(`^${sharedModules[name]?.floor ?? ""}`);
      expect(isInCaretRange(sharedModules[name]?.version ?? "", requiredVersion)).toBe(true);
    }
  });
});
