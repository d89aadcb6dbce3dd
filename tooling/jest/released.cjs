/**
 * The host's tests of one release, whose folder RELICARIO_RELEASE names. Apart from the units,
 * since what they look at has to be built: `npm test -- releases`.
 */
const { projects } = require("../../jest.config.cjs");

module.exports = {
  ...projects.find(({ displayName }) => displayName === "host"),
  displayName: "released",
  testMatch: ["<rootDir>/host/released/*.test.ts"],
};
