import { getBinPath, run, runNode, type ProcessResult } from "./run.ts";

/** Its rules ask for no types, so what they say of a file holds while the file is the same. */
const eslintOptions = [
  "--max-warnings=0",
  "--no-warn-ignored",
  "--cache",
  "--cache-strategy=content",
  "--cache-location=.cache/eslint/",
];

/** Formatter, glossary, oxlint, then ESLint for the rest; all files unless some are named. */
export async function runLint(files: readonly string[]): Promise<ProcessResult> {
  const formatResult = await run(getBinPath("oxfmt"), ["--check", "--no-error-on-unmatched-pattern", ...files]);
  if (formatResult.code !== 0)
    return { ...formatResult, output: `${formatResult.output}\nTo mend it: pnpm run format` };
  const glossaryResult = await runNode(["tooling/src/checks/glossary.ts"]);
  if (glossaryResult.code !== 0) return glossaryResult;
  const oxlintResult = await run(getBinPath("oxlint"), ["--threads=1", "--no-error-on-unmatched-pattern", ...files]);
  return oxlintResult.code === 0
    ? run(getBinPath("eslint"), [...eslintOptions, ...(files.length > 0 ? files : ["."])])
    : oxlintResult;
}
