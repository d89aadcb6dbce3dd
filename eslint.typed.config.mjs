// The only rule of the strict sets that oxlint lacks and that needs types. It takes minutes, so
// `lint` does not run it.
import reactHooks from "eslint-plugin-react-hooks";
import { defineConfig, globalIgnores } from "eslint/config";
import tseslint from "typescript-eslint";

import { ignoredFiles } from "./tooling/src/lint/scopes.ts";

export default defineConfig(globalIgnores([...ignoredFiles, "oxfmt.config.ts", "oxlint.config.ts"]), {
  files: ["**/*.ts", "**/*.tsx"],
  plugins: { "@typescript-eslint": tseslint.plugin, "react-hooks": reactHooks }, // react-hooks is named in directives
  // The project service shares what packages have in common. A separate program for each package,
  // the default of a single run, would need more memory than Node allows.
  languageOptions: {
    parser: tseslint.parser,
    parserOptions: {
      projectService: true,
      disallowAutomaticSingleRunInference: true,
      tsconfigRootDir: import.meta.dirname,
    },
  },
  linterOptions: { reportUnusedDisableDirectives: "off" }, // the directives are for other rules
  rules: { "@typescript-eslint/no-unsafe-class-instance-assignment": "error" },
});
