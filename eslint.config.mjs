// What oxlint does not have (oxlint.config.ts): boundaries, syntax that is forbidden in a place,
// names that nothing uses, and the rules of the React compiler. None of it asks for types.
import { readFileSync } from "node:fs";
import { join } from "node:path";

import stylistic from "@stylistic/eslint-plugin";
import reactHooks from "eslint-plugin-react-hooks";
import { defineConfig, globalIgnores } from "eslint/config";
import tseslint from "typescript-eslint";

import { importBoundaries } from "./tooling/src/lint/import-boundaries.ts";
import { readGlossary } from "./tooling/src/lint/glossary.ts";
import { browserFiles, ignoredFiles, testFiles } from "./tooling/src/lint/scopes.ts";

const noDefaultExport = {
  selector: "ExportDefaultDeclaration",
  message:
    "Named exports only; a default one where a loader asks for it (remote.tsx, a lazy …Page.tsx, a configuration).",
};
const noOnly = {
  selector: "MemberExpression[object.name=/^(describe|it|test)$/][property.name='only']",
  message: "This would leave all other tests out.",
};
const noFixedWait = {
  selector: "CallExpression[callee.property.name='waitForTimeout']",
  message: "Wait for what the person would see, not for a time.",
};
const noSubtle = {
  selector: "MemberExpression[property.name='subtle']",
  message: "crypto.subtle belongs in remote-recovery/vault: ask the vault for the outcome.",
};
const noWasm = {
  selector: "Identifier[name='WebAssembly']",
  message: "WebAssembly belongs in remote-recovery/engine, so that WASM loads in recovery only.",
};
const { names } = readGlossary(readFileSync(join(import.meta.dirname, "docs/glossary.md"), "utf8"));
const noReplacedName = [...names].map(([name, instead]) => ({
  selector: `:matches(Identifier, JSXIdentifier)[name='${name}']`,
  message: `docs/glossary.md has another word for this: ${instead}.`,
}));
const alwaysForbidden = [noOnly, noFixedWait, ...noReplacedName];

export default defineConfig(
  globalIgnores(ignoredFiles),
  { linterOptions: { reportUnusedDisableDirectives: "error" } },

  {
    files: ["**/*.ts", "**/*.tsx"],
    plugins: { "@typescript-eslint": tseslint.plugin },
    languageOptions: { parser: tseslint.parser },
    rules: {
      "no-restricted-syntax": ["error", ...alwaysForbidden, noDefaultExport],
      "@typescript-eslint/no-unused-vars": [
        "error",
        { varsIgnorePattern: "^_", argsIgnorePattern: "^_", ignoreRestSiblings: true },
      ], // `_` says that it is left out on purpose
    },
  },

  {
    files: ["**/*.{ts,tsx,mjs,cjs}"],
    extends: [importBoundaries],
  },

  {
    // The formatter (oxfmt.config.ts) does not wrap comments. What is no comment is its own.
    files: ["**/*.{ts,tsx,mjs,cjs}"],
    plugins: { "@stylistic": stylistic },
    rules: {
      "@stylistic/max-len": [
        "error",
        {
          code: 120,
          comments: 100,
          ignoreStrings: true,
          ignoreTemplateLiterals: true,
          ignoreRegExpLiterals: true,
          ignoreUrls: true,
          ignorePattern: "(es|ox)lint-disable", // a directive has one line
        },
      ],
    },
  },

  {
    files: browserFiles,
    ignores: testFiles,
    rules: { "no-restricted-syntax": ["error", ...alwaysForbidden, noDefaultExport, noSubtle, noWasm] },
  },
  {
    files: ["remote-recovery/vault/**"],
    ignores: testFiles,
    rules: { "no-restricted-syntax": ["error", ...alwaysForbidden, noDefaultExport, noWasm] },
  },
  {
    files: ["remote-recovery/engine/**"],
    rules: { "no-restricted-syntax": ["error", ...alwaysForbidden, noDefaultExport] },
  },
  {
    // The face of a remote, and the pages that a route loads.
    files: ["remote-*/src/remote.tsx", "remote-*/src/**/*Page.tsx", "host/src/**/*Page.tsx"],
    rules: { "no-restricted-syntax": ["error", ...alwaysForbidden, noSubtle, noWasm] },
  },
  {
    // Read by webpack, drizzle, jest and Playwright, which ask for a default export.
    files: ["**/*.config.ts", "tooling/src/database/jest-*.ts", "e2e/**/*.setup.ts", "e2e/**/*.teardown.ts"],
    rules: { "no-restricted-syntax": ["error", ...alwaysForbidden] },
  },

  {
    files: ["host/src/**/*.{ts,tsx}", "remote-*/src/**/*.{ts,tsx}", "shared/src/**/*.{ts,tsx}"],
    extends: [reactHooks.configs.flat.recommended],
  },

  {
    files: testFiles,
    rules: { "no-restricted-syntax": ["error", ...alwaysForbidden] },
  },
);
