import { getBinPath, run, runNode, type ProcessResult } from "./run.ts";

/** Cached by content: these rules use no types, so a result depends on the file alone. */
const eslintOptions = [
  "--max-warnings=0",
  "--no-warn-ignored",
  "--cache",
  "--cache-strategy=content",
  "--cache-location=.cache/eslint/",
];

/** All files unless some are named. */
export async function runLint(files: readonly string[]): Promise<ProcessResult> {
  const formatResult = await run(getBinPath("oxfmt"), ["--check", "--no-error-on-unmatched-pattern", ...files]);
  if (formatResult.code !== 0) return { ...formatResult, output: `${formatResult.output}\nTo fix it: pnpm run format` };
  for (const check of ["glossary.ts", "links.ts"]) {
    const checkResult = await runNode([`tooling/src/checks/${check}`]);
    if (checkResult.code !== 0) return checkResult;
  }
  const oxlintResult = await run(getBinPath("oxlint"), ["--threads=1", "--no-error-on-unmatched-pattern", ...files]);
  return oxlintResult.code === 0
    ? run(getBinPath("eslint"), [...eslintOptions, ...(files.length > 0 ? files : ["."])])
    : oxlintResult;
}
