/** Runs the host's tests against the release in RELICARIO_RELEASE (`npm test -- releases`). */
const { projects } = require("../../jest.config.cjs");

module.exports = {
  ...projects.find(({ displayName }) => displayName === "host"),
  displayName: "released",
  testMatch: ["<rootDir>/host/released/*.test.ts"],
};
