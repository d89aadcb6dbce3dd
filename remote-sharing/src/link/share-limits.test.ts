import { parseMaxViews } from "./share-limits.ts";

describe("parseMaxViews", () => {
  it.each([
    ["1", "", 1],
    ["any", "", null],
    ["other", " 25 ", 25],
    ["other", "0", "invalid"],
    ["other", "1.5", "invalid"],
    ["other", "1001", "invalid"],
    ["other", "ten", "invalid"],
  ] as const)("returns for %s and %j: %s", (choice, otherText, expected) => {
    expect(parseMaxViews(choice, otherText)).toBe(expected);
  });
});
