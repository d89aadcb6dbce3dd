/**
 * Configures one project per package, or several of the same name. Packages with components run in
 * jsdom, with the web APIs of Node's realm; all others run in Node.
 */
const fs = require("node:fs");

const { setupFilesAfterEnv, testEnvironment } = require("./shared/jest/preset.cjs");

const transform = {
  "\\.(ts|tsx)$": [
    "@swc/jest",
    {
      jsc: {
        target: "es2023",
        parser: { syntax: "typescript", tsx: true },
        transform: { react: { runtime: "automatic" } },
      },
      module: { type: "commonjs" },
    },
  ],
};

const ignoredPaths = ["/node_modules/", "/build/", "/dist/"];
const vaultSetup = ["cheap-argon2", "small-parts"].map(
  (name) => `<rootDir>/remote-recovery/vault/src/testing/${name}.ts`,
);
const withDatabase = {
  globalSetup: "<rootDir>/tooling/src/database/jest-setup.ts",
  globalTeardown: "<rootDir>/tooling/src/database/jest-teardown.ts",
  // drizzle reads `Object` a thousand times per statement, and a vm context's globals are slow
  sandboxInjectedGlobals: ["Object"],
};

const jestProject = (name, environment, testMatch, overrides = {}) => ({
  displayName: name,
  rootDir: __dirname,
  testEnvironment: environment === "node" ? "node" : testEnvironment,
  testMatch: testMatch.map((pattern) => `<rootDir>/${pattern}`),
  testPathIgnorePatterns: ignoredPaths,
  transform,
  moduleNameMapper: { "\\.(css|svg)$": "<rootDir>/shared/jest/empty.cjs" },
  setupFilesAfterEnv: [...(environment === "node" ? [] : setupFilesAfterEnv), "<rootDir>/tooling/jest/costs.cjs"],
  ...overrides,
});

const remotes = fs
  .readdirSync(__dirname)
  .filter((name) => name.startsWith("remote-"))
  .map((name) => name.slice("remote-".length));

module.exports = {
  testTimeout: 60_000, // a busy machine is slow, not wrong
  projects: [
    jestProject("shared", "node", ["shared/src/{api,errors,contract,webpack}/**/*.test.ts"]),
    jestProject("shared", "jsdom", [
      "shared/src/{ui,forms,i18n,testing}/**/*.test.{ts,tsx}",
      "shared/src/contract/**/*.test.tsx",
    ]),
    jestProject("remote-recovery/vault", "node", ["remote-recovery/vault/**/*.test.ts"], {
      setupFiles: vaultSetup,
      testPathIgnorePatterns: [...ignoredPaths, "/vault/src/contracts/"],
    }),
    jestProject("remote-recovery/vault", "node", ["remote-recovery/vault/src/contracts/**/*.test.ts"], {
      setupFiles: vaultSetup,
      ...withDatabase,
    }),
    jestProject("remote-recovery/engine", "node", ["remote-recovery/engine/**/*.test.ts"]),
    jestProject("remote-recovery", "jsdom", ["remote-recovery/src/**/*.test.{ts,tsx}"]),
    ...remotes
      .filter((name) => name !== "recovery")
      .map((name) => jestProject(`remote-${name}`, "jsdom", [`remote-${name}/src/**/*.test.{ts,tsx}`])),
    jestProject("host", "jsdom", ["host/src/**/*.test.{ts,tsx}"]),
    jestProject("api", "node", ["api/src/**/*.test.ts"], {
      ...withDatabase,
      // `npm run test:engines` starts the poolers, and sets this
      ...(process.env.RELICARIO_TEST_POOLER_WITHOUT_STATEMENTS === undefined && {
        testPathIgnorePatterns: [...ignoredPaths, "/pooler\\.test\\.ts$"],
      }),
    }),
    jestProject("e2e", "node", ["e2e/{support,bench}/**/*.test.ts"]),
    jestProject("tooling", "node", ["tooling/src/**/*.test.ts"], {
      // `npm run test:monitoring` and `npm run test:chart` install what they need, and set these
      testPathIgnorePatterns: [
        ...ignoredPaths,
        ...(process.env.RELICARIO_PROMTOOL === undefined ? ["/promtool\\.test\\.ts$"] : []),
        ...(process.env.RELICARIO_TEST_HELM === undefined ? ["/chart\\.test\\.ts$"] : []),
      ],
    }),
  ],
};
