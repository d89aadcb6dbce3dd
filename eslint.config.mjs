// Rules that oxlint (oxlint.config.ts) lacks: import boundaries, syntax that is forbidden in some
// folders, unused names, and the rules of the React compiler. None of them needs types.
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
const sentence = "JSXElement > JSXExpressionContainer CallExpression[callee.name='t']:not(JSXAttribute *)";
const noUnmarkedWords = [
  {
    selector: `${sentence} > ObjectExpression > Property[key.name=/^(former|names?|tag|titles?)$/]:not([value.callee.name='markVerbatim'])`,
    message: "Translators would change a user's own words: renderVerbatim(t(key, { name: markVerbatim(name) })).",
  },
  {
    selector: `${sentence.replace(" Call", " > Call")}:has(Identifier[name='markVerbatim'])`,
    message: "Marked words are isolated by renderVerbatim(t(…)).",
  },
];
const alwaysForbidden = [noOnly, noFixedWait, ...noUnmarkedWords, ...noReplacedName];

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
      ], // `_` marks a name that is unused on purpose
    },
  },

  {
    files: ["**/*.{ts,tsx,mjs,cjs}"],
    extends: [importBoundaries],
  },

  {
    // Limits what the formatter (oxfmt.config.ts) does not wrap: comments.
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
    // These may use WebCrypto. One-time codes are made where a record is shown: page and kit. The
    // deployment document is verified before any vault exists.
    files: ["remote-recovery/vault/**", "host/src/deployment/verify.ts", "shared/src/api/one-time-code.ts"],
    ignores: testFiles,
    rules: { "no-restricted-syntax": ["error", ...alwaysForbidden, noDefaultExport, noWasm] },
  },
  {
    files: ["remote-recovery/engine/**"],
    rules: { "no-restricted-syntax": ["error", ...alwaysForbidden, noDefaultExport] },
  },
  {
    // The entry of a remote, and the pages that routes load: both need a default export.
    files: ["remote-*/src/remote.tsx", "remote-*/src/**/*Page.tsx", "host/src/**/*Page.tsx"],
    rules: { "no-restricted-syntax": ["error", ...alwaysForbidden, noSubtle, noWasm] },
  },
  {
    // Read by webpack, drizzle, jest and Playwright, which need a default export.
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
