import { binPath, run, runNode, type Outcome } from "./run.ts";

/** Its rules ask for no types, so what they say of a file holds while the file is the same. */
const eslintOptions = [
  "--max-warnings=0",
  "--no-warn-ignored",
  "--cache",
  "--cache-strategy=content",
  "--cache-location=.cache/eslint/",
];

/** Formatter, glossary, oxlint, then ESLint for the rest; all files unless some are named. */
export async function runLint(files: readonly string[]): Promise<Outcome> {
  const formatted = await run(binPath("oxfmt"), ["--check", "--no-error-on-unmatched-pattern", ...files]);
  if (formatted.code !== 0) return { ...formatted, output: `${formatted.output}\nTo mend it: pnpm run format` };
  const worded = await runNode(["tooling/src/checks/glossary.ts"]);
  if (worded.code !== 0) return worded;
  const linted = await run(binPath("oxlint"), ["--threads=1", "--no-error-on-unmatched-pattern", ...files]);
  return linted.code === 0 ? run(binPath("eslint"), [...eslintOptions, ...(files.length > 0 ? files : ["."])]) : linted;
}
