import { join } from "node:path";

import { ESLint } from "eslint";

import { rootFolder } from "../paths.ts";

const eslint = new ESLint({ cwd: rootFolder });

/** Broken rules. `file` is a path from the root. */
const lintErrors = async (file: string, source: string): Promise<(string | null)[]> => {
  const results = await eslint.lintText(source, { filePath: join(rootFolder, file) });
  return results.flatMap(({ messages }) => messages.map(({ ruleId, message }) => ruleId ?? message));
};

const buildComponent = (body: string, prelude = ""): string =>
  `import { useEffect, useMemo, useRef, useState, Component } from "react";\nexport const all = [useEffect, useMemo, useRef, useState, Component];\n${prelude}\nexport function Shown({ a, list }: { a: string; list: string[] }) {\n${body}\n}\n`;

// import-boundaries.test.ts tests the rules about imports.
describe("the configuration of ESLint", () => {
  it.each([
    ["host/src/a.ts", "export default 1;"],
    ["remote-recovery/vault/src/a.ts", "export default 1;"],
    ["remote-recovery/engine/src/a.ts", "export default 1;"],
    ["api/src/a.ts", "export default 1;"],
    ["api/src/a.test.ts", "it.only('a', () => undefined);"],
    ["e2e/specs/a.spec.ts", "describe.only('a', () => undefined);"],
    ["e2e/specs/a.spec.ts", "await page.waitForTimeout(1);"],
    ["host/src/a.ts", "export const a = crypto.subtle;"],
    ["remote-secrets/src/remote.tsx", "export default crypto.subtle;"],
    ["remote-secrets/src/list/ListPage.tsx", "export default WebAssembly;"],
    ["shared/src/ui/a.ts", "export const a = WebAssembly;"],
    ["remote-recovery/vault/src/a.ts", "export const a = WebAssembly;"],
    ["e2e/specs/a.spec.ts", "export const putAway = 1;"],
    ["shared/src/ui/a.ts", "export interface A { readonly putAway: string }"],
    ["shared/src/ui/A.tsx", 'export const a = <p>{t("a", { title })}</p>;'],
    ["shared/src/ui/A.tsx", 'export const a = <p>{b ? null : <b>{t("a", { count, names: names.join() })}</b>}</p>;'],
    ["shared/src/ui/A.tsx", 'export const a = <p>{t("a", { name: markVerbatim(name) })}</p>;'],
  ])("refuses in %s: %s", async (file, source) => {
    expect(await lintErrors(file, source)).toEqual(["no-restricted-syntax"]);
  });

  it.each([
    ["remote-secrets/src/remote.tsx", "export default 1;"],
    ["host/src/home/HomePage.tsx", "export default 1;"],
    ["host/webpack.config.ts", "export default 1;"],
    ["tooling/src/database/jest-setup.ts", "export default 1;"],
    ["remote-recovery/vault/src/a.ts", "export const a = crypto.subtle;"],
    ["remote-recovery/engine/src/a.ts", "export const a = WebAssembly;"],
    ["host/src/a.test.ts", "export const a = crypto.subtle;"],
    ["tooling/src/a.ts", "export const a = crypto.subtle;"],
    ["shared/src/ui/A.tsx", 'export const a = <p>{renderVerbatim(t("a", { name: markVerbatim(name) }))}</p>;'],
    ["shared/src/ui/A.tsx", 'export const a = <p>{b && <i aria-label={t("a", { name })}>{t("a", { count })}</i>}</p>;'],
  ])("accepts in %s: %s", async (file, source) => {
    expect(await lintErrors(file, source)).toEqual([]);
  });

  it.each([
    ["rules-of-hooks", buildComponent("if (a) useState(1);\nreturn null;")],
    ["exhaustive-deps", buildComponent("useEffect(() => { document.title = a; }, []);\nreturn null;")],
    ["static-components", buildComponent("const Inner = () => <p>{a}</p>;\nreturn <Inner />;")],
    ["use-memo", buildComponent("const shown = useMemo((b) => b, [a]);\nreturn <p>{shown}</p>;")],
    ["immutability", buildComponent("const [b] = useState({ n: 1 });\nb.n = 2;\nreturn <p>{b.n}</p>;")],
    ["globals", buildComponent("count = 1;\nreturn <p>{count}</p>;", "let count = 0;")],
    ["refs", buildComponent("const kept = useRef(a);\nreturn <p>{kept.current}</p>;")],
    [
      "set-state-in-effect",
      buildComponent("const [b, setB] = useState(a);\nuseEffect(() => { setB(a); }, [a]);\nreturn <p>{b}</p>;"),
    ],
    ["set-state-in-render", buildComponent("const [b, setB] = useState(a);\nsetB(a);\nreturn <p>{b}</p>;")],
    ["error-boundaries", buildComponent("try { return <p>{a}</p>; } catch { return null; }")],
    ["purity", buildComponent("const b = Math.random();\nreturn <p>{b}</p>;")],
    ["unsupported-syntax", buildComponent("const b: unknown = eval(a);\nreturn <p>{String(b)}</p>;")],
    [
      "incompatible-library",
      `import { useVirtualizer } from "@tanstack/react-virtual";\n${buildComponent("const rows = useVirtualizer({ count: list.length, estimateSize: () => 1, getScrollElement: () => null });\nreturn <p>{rows.getTotalSize()}</p>;")}`,
    ],
  ])("refuses what react-hooks/%s forbids", async (rule, source) => {
    expect(await lintErrors("host/src/a.tsx", source)).toContain(`react-hooks/${rule}`);
  });

  it.each(["const a = 1;", 'const a = "b";\nexport type B = typeof a;'])(
    "refuses an unused name: %s",
    async (source) => {
      expect(await lintErrors("api/src/a.ts", source)).toEqual(["@typescript-eslint/no-unused-vars"]);
    },
  );

  it("accepts an unused name that starts with an underscore", async () => {
    expect(
      await lintErrors(
        "api/src/a.ts",
        "export const f = (_x: string, { a: _, ...others }: { a: string; b: string }) => others;",
      ),
    ).toEqual([]);
  });

  it("refuses an unused directive", async () => {
    expect(
      await lintErrors("api/src/a.ts", "// eslint-disable-next-line no-restricted-syntax\nexport const a = 1;"),
    ).toEqual([expect.stringContaining("Unused eslint-disable directive")]);
  });
});
