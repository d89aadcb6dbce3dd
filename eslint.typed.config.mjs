// The one rule of the strict sets that oxlint does not have, and that asks for types: minutes, so
// it is no part of `lint`.
import reactHooks from "eslint-plugin-react-hooks";
import { defineConfig, globalIgnores } from "eslint/config";
import tseslint from "typescript-eslint";

import { ignoredFiles } from "./tooling/src/lint/scopes.ts";

export default defineConfig(globalIgnores([...ignoredFiles, "oxfmt.config.ts", "oxlint.config.ts"]), {
  files: ["**/*.ts", "**/*.tsx"],
  plugins: { "@typescript-eslint": tseslint.plugin, "react-hooks": reactHooks }, // the second is named in directives
  // A program of its own for each package, as is inferred for a single run, needs more memory than
  // node gives: the service shares what packages have in common.
  languageOptions: {
    parser: tseslint.parser,
    parserOptions: {
      projectService: true,
      disallowAutomaticSingleRunInference: true,
      tsconfigRootDir: import.meta.dirname,
    },
  },
  linterOptions: { reportUnusedDisableDirectives: "off" }, // they are of other rules
  rules: { "@typescript-eslint/no-unsafe-class-instance-assignment": "error" },
});
