// Code has 120 columns. Comments have 100, which ESLint holds (eslint.config.mjs).
import { defineConfig } from "oxfmt";

export default defineConfig({
  printWidth: 120,
  proseWrap: "preserve",
  sortPackageJson: false,
  ignorePatterns: [
    "**/*.md", // tables would get padding
    "**/*.{css,html}", // served or hashed byte for byte
    // Written by programs.
    "pnpm-lock.yaml",
    "api/src/db/migrations/meta/**",
    "shared/src/webpack/surface.json",
    // Read byte for byte by tests.
    "**/vectors/**/*.json",
    "remote-recovery/vault/src/imports/samples/**",
    "e2e/fixtures/**",
    // YAML once Helm has filled it in.
    "deploy/helm/*/templates/**",
    // AssemblyScript with decorators on functions, which no parser of TypeScript reads.
    "remote-recovery/engine/assembly/{bch,bits,search}.ts",
  ],
  overrides: [
    // whitespace in HTML is sent to browsers
    { files: ["api/src/identity/pages/**"], options: { embeddedLanguageFormatting: "off" } },
  ],
});
