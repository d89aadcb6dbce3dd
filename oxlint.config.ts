// Each exception from the strict sets has its reason next to it. Rules that only ESLint has are in
// eslint.config.mjs.
import { defineConfig } from "oxlint";
import tseslint from "typescript-eslint";

import { browserFiles, ignoredFiles, testFiles } from "./tooling/src/lint/scopes.ts";

/**
 * Rules left to ESLint: the first in eslint.typed.config.mjs, the second in eslint.config.mjs,
 * since for oxlint a name that is used only as a type counts as used.
 */
const rulesOfEslint = ["@typescript-eslint/no-unsafe-class-instance-assignment", "@typescript-eslint/no-unused-vars"];

const strictRules = Object.fromEntries(
  [...tseslint.configs.strictTypeChecked, ...tseslint.configs.stylisticTypeChecked]
    .flatMap(({ rules = {} }) => Object.entries(rules))
    .filter(([name, level]) => level !== "off" && !rulesOfEslint.includes(name)),
);

export default defineConfig({
  categories: { correctness: "off" }, // only what is named here
  plugins: ["typescript"],
  options: { typeAware: true, reportUnusedDisableDirectives: "error", respectEslintDisableDirectives: false },
  ignorePatterns: ignoredFiles,
  overrides: [
    {
      files: ["**/*.ts", "**/*.tsx"],
      rules: {
        ...strictRules,
        eqeqeq: ["error", "always", { null: "ignore" }], // `== null` tests for null and undefined at once
        "no-eval": "error",
        "no-warning-comments": ["error", { terms: ["todo", "fixme", "xxx", "hack"], location: "start" }],
        "@typescript-eslint/switch-exhaustiveness-check": ["error", { considerDefaultExhaustiveForUnions: true }],
        "@typescript-eslint/consistent-type-imports": [
          "error",
          { fixStyle: "separate-type-imports", disallowTypeAnnotations: false },
        ],
        "@typescript-eslint/consistent-type-exports": "error",
        "@typescript-eslint/no-import-type-side-effects": "error",
        // names that come from outside are written as strings
        "@typescript-eslint/dot-notation": ["error", { allowIndexSignaturePropertyAccess: true }],
        // `onClick={() => close()}` says what it does
        "@typescript-eslint/no-confusing-void-expression": ["error", { ignoreArrowShorthand: true }],
        "@typescript-eslint/no-unnecessary-condition": [
          "error",
          { allowConstantLoopConditions: "only-allowed-literals" },
        ],
        "@typescript-eslint/require-await": "off", // `async` also promises that what is thrown becomes a rejection
        "@typescript-eslint/no-empty-function": "off", // doing nothing is a fine default of a callback
        // React handlers may be async; their errors go to the error boundary's report
        "@typescript-eslint/no-misused-promises": ["error", { checksVoidReturn: { attributes: false } }],
      },
    },
    {
      files: [...browserFiles, "api/src/**"],
      excludeFiles: testFiles,
      rules: { "no-console": "error" }, // in the service: the logger leaves out what may not be logged
    },
    {
      files: testFiles,
      rules: {
        "@typescript-eslint/unbound-method": "off", // expect(double.method)
        "@typescript-eslint/no-unsafe-assignment": "off", // jest types expect.stringContaining() and its like as any
      },
    },
  ],
});
