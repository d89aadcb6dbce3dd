import { findPackageOfSource, computePackageShares } from "./packages.ts";

describe("the package of a source", () => {
  it.each([
    ["webpack://relicario_host/../node_modules/.pnpm/zod@4.6.7/node_modules/zod/v4/core/core.js", "zod"],
    [
      "webpack://relicario_host/../node_modules/.pnpm/@module-federation+runtime@2.9.2/node_modules/@module-federation/runtime/dist/index.js",
      "@module-federation/*",
    ],
    ["webpack://relicario_host/./src/App.tsx", "own code: host"],
    ["webpack://relicario_secrets/../shared/src/ui/Card.tsx", "own code: shared"],
    ["webpack://relicario_secrets/webpack/runtime/load script", "webpack"],
    ['webpack://relicario_secrets/external global "_FEDERATION_RUNTIME_CORE"', "webpack"],
  ])("is found by the address %s", (source, name) => {
    expect(findPackageOfSource(source)).toBe(name);
  });
});

describe("shares of packages", () => {
  it("give characters up to the next mapping to its package, and those before the first to the bundler", () => {
    const sources = ["webpack://relicario_host/./src/a.ts", "webpack://relicario_host/../node_modules/zod/b.js"];
    // Columns 2 (a.ts), 6 (b.js), 9 (no source): AAAA is the position, ECAA the next source.
    const map = JSON.stringify({ version: 3, sources, names: [], mappings: "EAAA,ICAA,G" });
    expect(computePackageShares("0123456789", map)).toEqual(
      new Map([
        ["webpack", expect.closeTo(0.3)],
        ["own code: host", expect.closeTo(0.4)],
        ["zod", expect.closeTo(0.3)],
      ]),
    );
  });

  it("give a line without mappings to the package of the previous line's end", () => {
    const map = JSON.stringify({
      version: 3,
      sources: ["webpack://relicario_host/./src/a.ts"],
      names: [],
      mappings: "EAAA;",
    });
    expect(computePackageShares("abcde\nfghij", map)).toEqual(
      new Map([
        ["webpack", 0.2],
        ["own code: host", 0.8],
      ]),
    );
  });

  it("give JSON that webpack wrote to the texts", () => {
    const code = `a=JSON.parse('{"title":"Home"}')`;
    const map = JSON.stringify({
      version: 3,
      sources: ["webpack://relicario_host/./src/a.ts"],
      names: [],
      mappings: "AAAA,E",
    });
    expect(computePackageShares(code, map)).toEqual(
      new Map([
        ["own code: host", 2 / code.length],
        ["own code: texts", (code.length - 2) / code.length],
      ]),
    );
  });
});
