/** Reads the names and phrases that docs/glossary.md replaces, and finds them. */

export interface Glossary {
  /** Identifiers, with what replaces them. */
  readonly names: ReadonlyMap<string, string>;
  readonly folders: ReadonlyMap<string, string>;
  /** Phrases of users' texts, in any case. */
  readonly phrases: readonly { readonly language: string; readonly phrase: string; readonly replacement: string }[];
}

/**
 * Reads the two tables that are checked. In "Names that code does not have" a code span is a name,
 * or a folder when it ends in `/`; other words are left to reviewers.
 *
 * @throws Error when a table is missing or has no names: nothing would be checked
 */
export function readGlossary(markdown: string): Glossary {
  const names = new Map<string, string>();
  const folders = new Map<string, string>();
  for (const [discouraged = "", replacement = ""] of parseTableRows(markdown, "Names that code does not have")) {
    const spans = [...discouraged.matchAll(/`([^`]+)`/g)].map(([, span = ""]) => span);
    for (const span of spans)
      if (span.endsWith("/")) folders.set(span.slice(0, -1), replacement);
      else names.set(span, replacement);
  }
  if (names.size === 0) throw new Error("The glossary has no names that can be checked.");
  const phrases = parseTableRows(markdown, "Phrases that texts do not have").flatMap(
    ([language = "", all = "", replacement = ""]) =>
      all.split(", ").map((phrase) => ({ language, phrase, replacement })),
  );
  return { names, folders, phrases };
}

/** Matches whole words. */
export function findPhraseProblems({ phrases }: Glossary, file: string, language: string, texts: unknown): string[] {
  return listTexts(texts).flatMap(({ key, text }) =>
    phrases
      .filter((entry) => entry.language === language && containsPhrase(text, entry.phrase))
      .map(({ phrase, replacement }) => `${file}, ${key}: replace "${phrase}" with "${replacement}".`),
  );
}

export function findFolderProblems({ folders }: Glossary, path: string): string[] {
  return path
    .split("/")
    .slice(0, -1)
    .flatMap((folder) => {
      const replacement = folders.get(folder);
      return replacement === undefined ? [] : [`${path}: rename the folder "${folder}" to ${replacement}.`];
    });
}

function parseTableRows(markdown: string, heading: string): string[][] {
  const section = markdown.split(/^## /m).find((text) => text.startsWith(`${heading}\n`));
  if (section === undefined) throw new Error(`The glossary has no "${heading}".`);
  const lines = section.split("\n").filter((line) => line.startsWith("|"));
  return lines.slice(2).map((line) =>
    line
      .slice(1, -1)
      .split("|")
      .map((cell) => cell.trim()),
  );
}

/** A hyphen counts as part of a word: the path `/start-anew` does not contain the phrase "anew". */
function containsPhrase(text: string, phrase: string): boolean {
  return new RegExp(`(?<![\\p{L}-])${phrase}(?![\\p{L}-])`, "iu").test(text);
}

function listTexts(value: unknown, key = ""): { key: string; text: string }[] {
  if (typeof value === "string") return [{ key, text: value }];
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([name, inner]) => listTexts(inner, key === "" ? name : `${key}.${name}`));
}
