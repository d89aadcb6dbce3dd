import { findBundleProblems } from "./bundle-contents.ts";

const createScript = (text: string) => [{ file: "1.js", text }];

describe("findBundleProblems", () => {
  it("allows sealing code and WASM in recovery, and React in the host", () => {
    expect(
      findBundleProblems({
        name: "recovery",
        scripts: createScript('"age-encryption.org/v1"'),
        wasm: ["engine.wasm"],
        sources: [],
      }),
    ).toEqual([]);
    expect(
      findBundleProblems({
        name: "host",
        scripts: createScript('Symbol.for("react.transitional.element")'),
        wasm: [],
        sources: [],
      }),
    ).toEqual([]);
  });

  it("allows React in the script of the vault's elements, and in no other of recovery", () => {
    const text = 'Symbol.for("react.transitional.element")';
    const scripts = ["vault-element.js", "2.js"].map((file) => ({ file, text }));
    expect(findBundleProblems({ name: "recovery", scripts, wasm: [], sources: [] })).toEqual([
      "recovery carries a React of its own (2.js).",
    ]);
  });

  it.each([
    [
      "the host seals",
      { name: "host", scripts: createScript("age-encryption.org/v1"), wasm: [], sources: [] },
      "host carries code that seals (1.js).",
    ],
    [
      "a remote brings React",
      { name: "secrets", scripts: createScript("react.transitional.element"), wasm: [], sources: [] },
      "secrets carries a React of its own (1.js).",
    ],
    [
      "a remote loads WASM",
      { name: "sharing", scripts: [], wasm: ["x.wasm"], sources: [] },
      "sharing carries x.wasm: WASM loads in recovery only.",
    ],
    [
      "the host has federation's runtime twice",
      {
        name: "host",
        scripts: [],
        wasm: [],
        sources: ["webpack://host/../node_modules/@module-federation/runtime-core/dist/index.cjs"],
      },
      "host carries federation's runtime in CommonJS, which the host has as an ES module.",
    ],
  ] as const)("reports that %s", (_case, bundle, problem) => {
    expect(findBundleProblems(bundle)).toEqual([problem]);
  });
});
