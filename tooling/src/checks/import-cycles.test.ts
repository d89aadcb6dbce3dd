import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { findImportCycles, readImports } from "./import-cycles.ts";

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "circles-"));
});
afterEach(() => {
  rmSync(root, { recursive: true });
});

async function check(sources: Readonly<Record<string, string>>): Promise<string[]> {
  for (const [name, text] of Object.entries(sources)) writeFileSync(join(root, name), text);
  return findImportCycles(await readImports(root, Object.keys(sources)));
}

describe("findImportCycles", () => {
  it("accepts imports that lead one way", async () => {
    expect(
      await check({ "a.ts": 'import "./b.ts"; import "./c.ts";', "b.ts": 'import "./c.ts";', "c.ts": "" }),
    ).toEqual([]);
  });

  it.each([
    ["an import", 'import { a } from "./a.ts"; export const b = a;'],
    ["an import of types", 'import type { A } from "./a.ts"; export type B = A;'],
    ["a re-export", 'export * from "./a.ts";'],
    ["import()", 'export const b = () => import("./a.ts");'],
  ])("finds a cycle that %s closes", async (_, text) => {
    expect(await check({ "a.ts": 'import "./b.ts";', "b.ts": text })).toEqual([
      "a.ts -> b.ts -> a.ts is an import cycle: move the shared code to a separate file.",
    ]);
  });

  it("finds a cycle of three files", async () => {
    expect(
      await check({
        "a.ts": 'import "./b.ts";',
        "b.tsx": "",
        "b.ts": 'import "./c.tsx";',
        "c.tsx": 'import "./a.ts";',
      }),
    ).toEqual([expect.stringMatching(/^a\.ts -> b\.ts -> c\.tsx -> a\.ts is/)]);
  });
});
