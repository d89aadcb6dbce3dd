import { packageOfSource, packageShares } from "./packages.ts";

describe("packageOf", () => {
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
  ])("names the package of %s", (source, name) => {
    expect(packageOfSource(source)).toBe(name);
  });
});

describe("packageShares", () => {
  it("gives characters up to the next mapping, and those before the first to the bundler", () => {
    const sources = ["webpack://relicario_host/./src/a.ts", "webpack://relicario_host/../node_modules/zod/b.js"];
    // Columns 2 (a.ts), 6 (b.js), 9 (no source): AAAA is the position, ECAA the next source.
    const map = JSON.stringify({ version: 3, sources, names: [], mappings: "EAAA,ICAA,G" });
    expect(packageShares("0123456789", map)).toEqual(
      new Map([
        ["webpack", expect.closeTo(0.3)],
        ["own code: host", expect.closeTo(0.4)],
        ["zod", expect.closeTo(0.3)],
      ]),
    );
  });

  it("gives a line without mappings to what the line before ended with", () => {
    const map = JSON.stringify({
      version: 3,
      sources: ["webpack://relicario_host/./src/a.ts"],
      names: [],
      mappings: "EAAA;",
    });
    expect(packageShares("abcde\nfghij", map)).toEqual(
      new Map([
        ["webpack", 0.2],
        ["own code: host", 0.8],
      ]),
    );
  });

  it("gives JSON that webpack wrote to the texts", () => {
    const code = `a=JSON.parse('{"title":"Home"}')`;
    const map = JSON.stringify({
      version: 3,
      sources: ["webpack://relicario_host/./src/a.ts"],
      names: [],
      mappings: "AAAA,E",
    });
    expect(packageShares(code, map)).toEqual(
      new Map([
        ["own code: host", 2 / code.length],
        ["own code: texts", (code.length - 2) / code.length],
      ]),
    );
  });
});
