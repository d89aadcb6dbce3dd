import { createHostEnvironment, findObjections, formatDeprecations } from "./compatibility.ts";

const deprecation = {
  ...{ part: "Portal.report", instead: "Portal.fail" },
  ...{ since: "3.2.0", removedIn: "4.0.0", removedOn: "2027-03-01" },
};
const buildRelease = (contract: string) => {
  const manifest = {
    ...{ name: "garden", contract, title: { en: "Garden", es: "Jardín" } },
    ...{ routes: [], namespaces: [], capabilities: [], api_paths: [] },
  };
  const [release, files] = ["garden-1.0.0-0123456789ab", { "remoteEntry.js": `sha384-${"a".repeat(64)}` }];
  const signedRecord = { v: 1, version: "1.0.0", federation: { id: "x", name: "x" }, release, files, manifest };
  return { signedRecord, folder: "/nowhere" };
};

describe("findObjections", () => {
  const host = { ...createHostEnvironment([]), contract: "3.2.0", deprecations: [deprecation] };

  it("refuses a range that begins before a part was deprecated, with the day of its end", () => {
    expect(findObjections(buildRelease("^3.1"), host)).toEqual([
      "its range ^3.1 ends on 2027-03-01 with contract 4.0.0, which has no Portal.report: use Portal.fail, and build it for ^3.2.0",
    ]);
  });

  it("accepts a range of versions in which the part is listed", () => {
    expect(findObjections(buildRelease("^3.2"), host)).toEqual([]);
  });
});

it("formatDeprecations says what ends when, and what replaces it", () => {
  expect(formatDeprecations([deprecation])).toEqual([
    "Deprecated since contract 3.2.0: Portal.report. Contract 4.0.0 has none, from 2027-03-01 on: use Portal.fail.",
  ]);
});
