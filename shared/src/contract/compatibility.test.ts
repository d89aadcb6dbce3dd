import { findUnknownDeprecations, findUnmetRequirements, isInCaretRange } from "./compatibility.ts";

describe("isInCaretRange", () => {
  it.each([
    ["^1", "1.0.0", true],
    ["^1", "1.9.3", true],
    ["^1.2", "1.2.0", true],
    ["^1.2", "1.1.9", false],
    ["^1.2.3", "1.2.2", false],
    ["^1.2.3", "1.3.0", true],
    ["^1", "2.0.0", false],
    ["^2", "1.9.0", false],
    ["1", "1.0.0", false],
    [">=1", "1.0.0", false],
    ["*", "1.0.0", false],
    ["^0", "0.1.0", false],
    ["^1", "1.0", false],
    ["^1 || ^2", "2.0.0", false],
    ["^19.2.0", "19.3.0-canary", false],
    ["^19.2.0", "", false],
  ])("%s and %s: %s", (range, version, expected) => {
    expect(isInCaretRange(version, range)).toBe(expected);
  });
});

describe("findUnknownDeprecations", () => {
  const deprecation = {
    ...{ part: "Portal.report", instead: "Portal.fail" },
    ...{ since: "3.2.0", removedIn: "4.0.0", removedOn: "2027-03-01" },
  };

  it.each([
    ["^3", 1],
    ["^3.1.9", 1],
    ["^3.2", 0],
    ["^3.2.0", 0],
    ["^3.10", 0],
    ["^4", 0],
  ])("finds for %s %d part that was deprecated in 3.2.0", (range, count) => {
    expect(findUnknownDeprecations(range, [deprecation])).toHaveLength(count);
  });
});

describe("findUnmetRequirements", () => {
  const releaseRequiring = (...shared: { name: string; requiredVersion: string }[]) => ({
    federation: { id: "x", name: "x", shared },
  });
  const provided = { react: "19.3.0", zod: "4.6.7" };

  it("returns nothing when the host provides every required version", () => {
    expect(findUnmetRequirements(releaseRequiring({ name: "react", requiredVersion: "^19.2.0" }), provided)).toEqual(
      [],
    );
    expect(findUnmetRequirements({ federation: { id: "x", name: "x" } }, provided)).toEqual([]);
  });

  it("returns newer minor versions, other major versions, unknown packages and names from Object.prototype", () => {
    const unmet = [
      ["react", "^19.4.0"],
      ["zod", "^3.0.0"],
      ["vue", "^3.0.0"],
      ["constructor", "^1.0.0"],
    ].map(([name = "", requiredVersion = ""]) => ({ name, requiredVersion }));
    expect(findUnmetRequirements(releaseRequiring(...unmet), provided)).toEqual(unmet);
  });
});
