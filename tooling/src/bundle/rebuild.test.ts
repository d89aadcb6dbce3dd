import { describeDifferences } from "./rebuild.ts";

describe("describeDifferences", () => {
  const expected = { "a.js": "sha384-a", "b.js": "sha384-b" };

  it("finds none between the same files in another order", () => {
    expect(describeDifferences(expected, { "b.js": "sha384-b", "a.js": "sha384-a" })).toEqual([]);
  });

  it("names each file that changed, is missing or was added", () => {
    expect(describeDifferences(expected, { "a.js": "sha384-x", "c.js": "sha384-c" })).toEqual([
      "a.js differs",
      "b.js was not built",
      "c.js is new",
    ]);
  });
});
