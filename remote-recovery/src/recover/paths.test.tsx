import { safePath, parseVersion } from "./paths.ts";

describe("safePath", () => {
  it.each([
    ["/add-secret", "/add-secret"],
    ["/secrets?tag=a", "/secrets?tag=a"],
    [null, "/home"],
    ["", "/home"],
    ["https://elsewhere.example/", "/home"],
    ["//elsewhere.example/x", "/home"],
    ["/\\elsewhere.example", "/home"],
    ["javascript:alert(1)", "/home"],
    ["secrets", "/home"],
  ])("takes %j to %s", (input, path) => {
    expect(safePath(input)).toBe(path);
  });
});

it.each([
  ["2", 2],
  ["0", null],
  ["-1", null],
  ["2; DROP", null],
  [null, null],
])("reads the version %s", (text, version) => {
  expect(parseVersion(text)).toBe(version);
});
