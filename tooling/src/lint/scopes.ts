/** Sets of files for the rules of both linters. */
export const browserFiles = [
  "host/src/**",
  "remote-*/src/**",
  "remote-recovery/{engine,vault}/src/**",
  "shared/src/**",
];
export const testFiles = ["**/*.test.ts", "**/*.test.tsx", "**/testing/**"];
export const ignoredFiles = [
  "**/dist/**",
  "**/build/**",
  "**/coverage/**",
  "**/node_modules/**",
  ".cache/**",
  ".data/**",
  "e2e/test-results/**",
  "e2e/playwright-report/**",
  "e2e/fixtures/**",
  "tooling/template/**",
  "tooling/vendors/**",
  "remote-recovery/engine/assembly/**",
];
