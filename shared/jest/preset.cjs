/**
 * Jest preset for remotes outside this repository: `module.exports =
 * require("@relicario/shared/jest")` in `jest.config.cjs`. Tests are ES modules: run `node
 * --experimental-vm-modules node_modules/jest/bin/jest.js`. styled-components is CommonJS, so
 * import its `styled` by name. Needs jest, jest-environment-jsdom, @swc/jest, @swc/core,
 * @testing-library/react and
 * @testing-library/jest-dom.
 */
module.exports = {
  testEnvironment: require.resolve("./environment.cjs"),
  setupFilesAfterEnv: [require.resolve("./setup.cjs")],
  testMatch: ["<rootDir>/src/**/*.test.{ts,tsx}"],
  moduleNameMapper: { "\\.css$": require.resolve("./empty.cjs") }, // jsdom renders no styles
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
