// Each exception from the strict sets has its reason beside it.
import reactHooks from "eslint-plugin-react-hooks";
import { defineConfig, globalIgnores } from "eslint/config";
import tseslint from "typescript-eslint";

import { importBoundaries } from "./tooling/src/lint/import-boundaries.ts";

const inBrowsers = ["host/src/**", "remote-*/src/**", "remote-recovery/{engine,vault}/src/**", "shared/src/**"];
const tests = ["**/*.test.ts", "**/*.test.tsx", "**/testing/**"];

const noDefaultExport = { selector: "ExportDefaultDeclaration", message: "Named exports only; a default one where a loader asks for it (remote.tsx, a lazy …Page.tsx, a configuration)." };
const noOnly = { selector: "MemberExpression[object.name=/^(describe|it|test)$/][property.name='only']", message: "This would leave all other tests out." };
const noWait = { selector: "CallExpression[callee.property.name='waitForTimeout']", message: "Wait for what the person would see, not for a time." };
const noSubtle = { selector: "MemberExpression[property.name='subtle']", message: "crypto.subtle belongs in remote-recovery/vault: ask the vault for the outcome." };
const noWasm = { selector: "Identifier[name='WebAssembly']", message: "WebAssembly belongs in remote-recovery/engine, so that WASM loads in recovery only." };
const always = [noOnly, noWait];

export default defineConfig(
  globalIgnores(["**/dist/**", "**/build/**", "**/coverage/**", "**/node_modules/**", ".cache/**", ".data/**", "e2e/test-results/**", "e2e/playwright-report/**", "e2e/fixtures/**", "tooling/template/**", "tooling/vendors/**", "remote-recovery/engine/assembly/**"]),
  { linterOptions: { reportUnusedDisableDirectives: "error" } },

  {
    files: ["**/*.ts", "**/*.tsx"],
    extends: [tseslint.configs.strictTypeChecked, tseslint.configs.stylisticTypeChecked],
    // A program of its own for each package, as is inferred for a single run, needs more memory than node gives: the service shares what packages have in common.
    languageOptions: { parserOptions: { projectService: true, disallowAutomaticSingleRunInference: true, tsconfigRootDir: import.meta.dirname } },
    rules: {
      eqeqeq: ["error", "always", { null: "ignore" }], // `== null` asks for null and undefined at once
      "no-eval": "error",
      "no-warning-comments": ["error", { terms: ["todo", "fixme", "xxx", "hack"], location: "start" }],
      "no-restricted-syntax": ["error", ...always, noDefaultExport],
      "@typescript-eslint/switch-exhaustiveness-check": ["error", { considerDefaultExhaustiveForUnions: true }],
      "@typescript-eslint/consistent-type-imports": ["error", { fixStyle: "separate-type-imports", disallowTypeAnnotations: false }],
      "@typescript-eslint/no-unused-vars": ["error", { varsIgnorePattern: "^_", argsIgnorePattern: "^_", ignoreRestSiblings: true }], // `_` says that it is left out on purpose
      "@typescript-eslint/consistent-type-exports": "error",
      "@typescript-eslint/no-import-type-side-effects": "error",
      "@typescript-eslint/strict-boolean-expressions": "off", // `if (text)` and `value && element` are plain where types are this strict
      "@typescript-eslint/dot-notation": ["error", { allowIndexSignaturePropertyAccess: true }], // names that come from outside are written as strings
      "@typescript-eslint/no-confusing-void-expression": ["error", { ignoreArrowShorthand: true }], // `onClick={() => close()}` says what it does
      "@typescript-eslint/no-unnecessary-condition": ["error", { allowConstantLoopConditions: "only-allowed-literals" }],
      "@typescript-eslint/require-await": "off", // `async` also promises that what is thrown becomes a rejection
      "@typescript-eslint/no-empty-function": "off", // doing nothing is a fine default of a callback
      "@typescript-eslint/no-misused-promises": ["error", { checksVoidReturn: { attributes: false } }], // React handlers may be async; their errors go to the error boundary's report
    },
  },

  {
    files: ["**/*.{ts,tsx,mjs,cjs}"],
    extends: [importBoundaries],
  },

  {
    files: inBrowsers,
    ignores: tests,
    rules: { "no-console": "error", "no-restricted-syntax": ["error", ...always, noDefaultExport, noSubtle, noWasm] },
  },
  {
    files: ["remote-recovery/vault/**"],
    ignores: tests,
    rules: { "no-restricted-syntax": ["error", ...always, noDefaultExport, noWasm] },
  },
  {
    files: ["remote-recovery/engine/**"],
    rules: { "no-restricted-syntax": ["error", ...always, noDefaultExport] },
  },
  {
    // Gives on all that zod exports, the old names among it.
    files: ["host/src/shared-packages/**"],
    rules: { "@typescript-eslint/no-deprecated": "off" },
  },
  {
    // The face of a remote, and the pages that a route loads.
    files: ["remote-*/src/remote.tsx", "remote-*/src/**/*Page.tsx", "host/src/**/*Page.tsx"],
    rules: { "no-restricted-syntax": ["error", ...always, noSubtle, noWasm] },
  },
  {
    // Read by webpack, drizzle, jest and Playwright, which ask for a default export.
    files: ["**/*.config.ts", "tooling/src/database/jest-*.ts", "e2e/**/*.setup.ts", "e2e/**/*.teardown.ts"],
    rules: { "no-restricted-syntax": ["error", ...always] },
  },

  {
    files: ["host/src/**/*.{ts,tsx}", "remote-*/src/**/*.{ts,tsx}", "shared/src/**/*.{ts,tsx}"],
    extends: [reactHooks.configs.flat.recommended],
  },

  {
    files: ["api/src/**"],
    ignores: tests,
    rules: { "no-console": "error" }, // the logger knows what may not be written down
  },

  {
    files: tests,
    rules: {
      "no-restricted-syntax": ["error", ...always],
      "@typescript-eslint/unbound-method": "off", // expect(double.method)
      "@typescript-eslint/no-unsafe-assignment": "off", // jest types expect.stringContaining() and its like as any
    },
  },
);
