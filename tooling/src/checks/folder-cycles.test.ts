import { findFolderCycles } from "./folder-cycles.ts";

const check = (imports: Readonly<Record<string, readonly string[]>>) =>
  findFolderCycles(
    Object.fromEntries(Object.entries(imports).map(([file, imported]) => [file, imported.map((id) => ({ id }))])),
  );

describe("findFolderCycles", () => {
  it("accepts folders that import one way", () => {
    expect(
      check({ "a/index.ts": ["a/list/List.tsx"], "a/list/List.tsx": ["a/data/rows.ts", "a/data/row.ts"] }),
    ).toEqual([]);
  });

  it("reports two folders that import each other, with one import each", () => {
    expect(check({ "a/list/List.tsx": ["a/edit/draft.ts"], "a/edit/Edit.tsx": ["a/list/row.ts"] })).toEqual([
      "a: edit/ -> list/ -> edit/ is a cycle of folders: move what both need to a folder below them.\n" +
        "  a/edit/Edit.tsx imports a/list/row.ts\n" +
        "  a/list/List.tsx imports a/edit/draft.ts",
    ]);
  });

  it.each([
    [
      "of three folders",
      { "a/x/1.ts": ["a/y/1.ts"], "a/y/2.ts": ["a/z/1.ts"], "a/z/2.ts": ["a/x/2.ts"] },
      "a: x/ -> y/ -> z/ -> x/ is",
    ],
    [
      "below the first folder",
      { "a/b/x/1.ts": ["a/b/y/1.ts"], "a/b/y/2.ts": ["a/b/x/2.ts"] },
      "a/b: x/ -> y/ -> x/ is",
    ],
    ["that only subfolders close", { "a/x/p/1.ts": ["a/y/1.ts"], "a/y/1.ts": ["a/x/q/1.ts"] }, "a: x/ -> y/ -> x/ is"],
    [
      "through a file next to them",
      { "a/x/1.ts": ["a/top.ts"], "a/top.ts": ["a/x/2.ts"] },
      "a: top.ts -> x/ -> top.ts is",
    ],
    ["of packages", { "a/1.ts": ["b/1.ts"], "b/2.ts": ["a/2.ts"] }, ".: a/ -> b/ -> a/ is"],
  ])("finds a cycle %s", (_, imports, sentence) => {
    expect(check(imports)).toEqual([expect.stringContaining(sentence)]);
  });

  it("names every folder in a cycle, by short cycles", () => {
    const imports = { "a/x/1.ts": ["a/y/1.ts"], "a/y/1.ts": ["a/x/2.ts", "a/z/1.ts"], "a/z/1.ts": ["a/x/3.ts"] };
    expect(check(imports)).toEqual([
      expect.stringContaining("a: x/ -> y/ -> x/ is"),
      expect.stringContaining("a: z/ -> x/ -> y/ -> z/ is"),
    ]);
  });

  it.each([
    ["files of one folder", { "a/1.ts": ["a/2.ts"], "a/2.ts": ["a/1.ts"] }],
    ["a test", { "a/x/1.test.ts": ["a/y/1.ts"], "a/y/1.ts": ["a/x/1.ts"] }],
    ["a test helper", { "a/testing/fake.ts": ["a/y/1.ts"], "a/y/1.ts": ["a/testing/clock.ts"] }],
    ["an entry point and what it exports", { "a/index.ts": ["a/x/1.ts"], "a/x/1.ts": ["a/Field.tsx"] }],
  ])("leaves out %s", (_, imports) => {
    expect(check(imports)).toEqual([]);
  });
});
