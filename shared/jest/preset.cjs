/**
 * How a remote outside this repository runs its tests: `module.exports =
 * require("@relicario/shared/jest")` as `jest.config.cjs`. Tests are ES modules, as all that they
 * import: started as `node --experimental-vm-modules node_modules/jest/bin/jest.js`.
 * styled-components is none, so its `styled` is imported by name. Needs jest,
 * jest-environment-jsdom, @swc/jest, @swc/core,
 * @testing-library/react and @testing-library/jest-dom.
 */
module.exports = {
  testEnvironment: require.resolve("./environment.cjs"),
  setupFilesAfterEnv: [require.resolve("./setup.cjs")],
  testMatch: ["<rootDir>/src/**/*.test.{ts,tsx}"],
  moduleNameMapper: { "\\.css$": require.resolve("./empty.cjs") }, // jsdom draws nothing
  extensionsToTreatAsEsm: [".ts", ".tsx"],
  transform: {
    "\\.tsx?$": [
      "@swc/jest",
      {
        jsc: {
          target: "es2023",
          parser: { syntax: "typescript", tsx: true },
          transform: { react: { runtime: "automatic" } },
          experimental: { keepImportAttributes: true },
        },
        module: { type: "es6" },
      },
    ],
  },
};
