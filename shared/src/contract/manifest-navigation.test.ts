import { findNavigationProblems } from "./manifest-navigation.ts";

describe("findNavigationProblems", () => {
  const entry = { route: "/notes", titleKey: "notes:title", icon: "folder", order: 10 };
  const findProblems = (navigation: readonly (typeof entry)[], contract = "^3.1") => {
    const routes = ["/notes", "/secrets"].map((path) => ({
      ...{ path, titleKey: "notes:title", access: "signed_in" as const, shell: true },
    }));
    return findNavigationProblems({ contract, routes, navigation: [...navigation] });
  };

  it("accepts an entry for a route of the manifest", () => {
    expect(findProblems([entry])).toEqual([]);
  });

  it.each([
    [{ route: "/garden" }, "/garden is not a route of this manifest"],
    [{ route: "/secrets" }, "/secrets is reserved for a destination of the portal"],
    [{ icon: "skull" }, "/notes has an icon that the portal does not draw: skull"],
  ])("refuses an entry with %j", (changes, problem) => {
    expect(findProblems([{ ...entry, ...changes }])).toEqual([`the navigation entry ${problem}`]);
  });

  it("refuses a second entry for a route", () => {
    expect(findProblems([entry, entry])).toEqual(["the navigation entry /notes has an entry already"]);
  });

  it.each(["^3", "^3.0", "^3.0.4"])("refuses an entry for hosts that know none (%s)", (contract) => {
    expect(findProblems([entry], contract)).toEqual(['"contract" must be "^3.1" or later for a navigation']);
    expect(findProblems([], contract)).toEqual([]);
  });
});
