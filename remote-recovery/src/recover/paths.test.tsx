import { toSafePath, parseVersion } from "./paths.ts";

describe("toSafePath", () => {
  it.each([
    ["/add-secret", "/add-secret"],
    ["/secrets?tag=a", "/secrets?tag=a"],
    [null, "/home"],
    ["", "/home"],
    ["https://elsewhere.example/", "/home"],
    ["//elsewhere.example/x", "/home"],
    ["/\\elsewhere.example", "/home"],
    ["/..//elsewhere.example/x", "/elsewhere.example/x"],
    ["/.//elsewhere.example", "/elsewhere.example"],
    ["javascript:alert(1)", "/home"],
    ["secrets", "/home"],
  ])("maps %j to %s", (input, path) => {
    expect(toSafePath(input)).toBe(path);
  });
});

it.each([
  ["2", 2],
  ["0", null],
  ["-1", null],
  ["2; DROP", null],
  [null, null],
])("parses the version %s", (text, version) => {
  expect(parseVersion(text)).toBe(version);
});
