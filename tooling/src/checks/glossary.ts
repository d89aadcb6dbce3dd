/**
 * `pnpm check:glossary`: finds phrases and names of folders that docs/glossary.md replaces. ESLint
 * checks identifiers (eslint.config.mjs).
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";

import { rootFolder } from "../paths.ts";
import { findFolderProblems, findPhraseProblems, readGlossary } from "../lint/glossary.ts";
import { listCheckoutFiles } from "../test/changed-files.ts";

const read = (file: string): string => readFileSync(join(rootFolder, file), "utf8");
const glossary = readGlossary(read("docs/glossary.md"));
const files = await listCheckoutFiles();
const texts = files.flatMap((path) => {
  const language = /\/src\/(?:.*\/)?locales\/(\w\w)[./].*json$/.exec(path)?.[1];
  return language === undefined ? [] : [{ path, language }];
});
const problems = [
  ...files.filter((file) => file.includes("/src/")).flatMap((file) => findFolderProblems(glossary, file)),
  ...texts.flatMap(({ path, language }) => findPhraseProblems(glossary, path, language, JSON.parse(read(path)))),
];

for (const problem of problems) console.error(problem);
if (problems.length > 0) process.exitCode = 1;
console.log(`${String(files.length)} files, ${String(texts.length)} of texts, ${String(problems.length)} problems`);
