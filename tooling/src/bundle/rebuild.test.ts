import { describeDifferences } from "./rebuild.ts";

describe("differences", () => {
  const expected = { "a.js": "sha384-a", "b.js": "sha384-b" };

  it("are none between the same files, in whatever order", () => {
    expect(describeDifferences(expected, { "b.js": "sha384-b", "a.js": "sha384-a" })).toEqual([]);
  });

  it("name each file that is changed, left out or added", () => {
    expect(describeDifferences(expected, { "a.js": "sha384-x", "c.js": "sha384-c" })).toEqual([
      "a.js differs",
      "b.js was not built",
      "c.js is new",
    ]);
  });
});
