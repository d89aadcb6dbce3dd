import { posix } from "node:path";

export interface TextFile {
  /** From the root of the repository, with slashes. */
  readonly path: string;
  readonly text: string;
}

/** `](target)`, `[label]: target`, and `src` or `href` of an element. */
const markdownLink = /\]\(<?([^\s)>]+)[^)]*\)|^\[[^\]]+\]:\s+(\S+)|\b(?:src|href)="([^"]+)"/gm;
const fencedCode = /^(```|~~~).*?^\1/gms;
const inlineCode = /`[^`\n]*`/g;

/** `` `file.test.ts` ("part of a title", "part") `` in Markdown. */
const citedTest = /`(?:([a-z]+):)?([^`\s:]+\.(?:test|spec)\.tsx?)`(?: \(("[^"]+"(?:(?:, | and )"[^"]+")*)\))?/g;
/** Folders that Markdown shortens in citations of tests. */
const testFolders: Readonly<Record<string, string>> = {
  vault: "remote-recovery/vault/src",
  recovery: "remote-recovery/src",
  service: "api/src",
  tooling: "tooling/src",
};

/** `docs/decisions/0001`, with or without the rest of the file's name. */
const decisionPath = /\bdecisions\/(\d{4}(?:-[\w-]+\.md)?)/g;
/** `decision 0001`, `decisions 0001, 0002 and 0003`; a comment may break the line between. */
const decisionNumbers = /\bdecisions?[\s*]+(\d{4}(?:(?:, | and )\d{4})*)/gi;

/**
 * Finds dead relative links of Markdown, with their headings, and citations of missing decisions
 * and tests. URLs with a scheme are not checked.
 *
 * @param files text files to check
 * @param allPaths every file of the checkout
 */
export function findDeadLinks(files: readonly TextFile[], allPaths: Iterable<string>): string[] {
  const paths = withFolders(allPaths);
  const decisions = new Set<string>();
  for (const path of paths) {
    const name = /^docs\/decisions\/(\d{4})-[\w-]+\.md$/.exec(path);
    if (name?.[1] !== undefined) decisions.add(name[1]).add(posix.basename(path));
  }
  const headings = new Map(
    files.filter(({ path }) => path.endsWith(".md")).map(({ path, text }) => [path, findAnchors(text)]),
  );

  const texts = new Map(files.map(({ path, text }) => [path, text]));
  return files.flatMap(({ path, text }) => [
    ...new Set([
      ...(path.endsWith(".md") ? findDeadTargets(path, text, paths, headings) : []),
      ...(path.endsWith(".md") ? findMissingTests(path, text, texts) : []),
      ...findCitedDecisions(text)
        .filter((cited) => !decisions.has(cited))
        .map((cited) => `${path}: there is no decision ${cited} in docs/decisions.`),
    ]),
  ]);
}

function findDeadTargets(
  path: string,
  text: string,
  paths: ReadonlySet<string>,
  headings: ReadonlyMap<string, ReadonlySet<string>>,
): string[] {
  const prose = text.replace(fencedCode, "").replace(inlineCode, "");
  return [...prose.matchAll(markdownLink)].flatMap((match) => {
    const link = match[1] ?? match[2] ?? match[3] ?? "";
    if (/^[a-z][a-z+.-]*:|^\//i.test(link)) return [];
    const [file = "", anchor] = link.split("#");
    const target =
      file === "" ? path : posix.join(posix.dirname(path), decodeURIComponent(file)).replace(/(?<=.)\/$/, "");
    if (!paths.has(target)) return [`${path}: ${link} leads to no file.`];
    if (anchor !== undefined && headings.get(target)?.has(anchor) === false)
      return [`${path}: ${link} leads to no heading.`];
    return [];
  });
}

/**
 * Finds citations of missing tests. A path that does not begin with a folder of the root is
 * shortened, and not checked.
 */
function findMissingTests(path: string, text: string, texts: ReadonlyMap<string, string>): string[] {
  const topFolders = new Set([...texts.keys()].map((file) => file.split("/")[0]));
  return [...text.matchAll(citedTest)].flatMap(([, prefix, cited = "", titles = ""]) => {
    const test = prefix === undefined ? cited : posix.join(testFolders[prefix] ?? prefix, cited);
    const source = texts.get(test) ?? texts.get(posix.join(posix.dirname(path), test));
    if (source === undefined) {
      const isShortened = prefix === undefined && !topFolders.has(test.split("/")[0] ?? "");
      return isShortened ? [] : [`${path}: there is no test file ${test}.`];
    }
    return [...titles.matchAll(/"([^"]+)"/g)].flatMap(([, title = ""]) =>
      source.includes(title) ? [] : [`${path}: ${test} has no test "${title}".`],
    );
  });
}

function findCitedDecisions(text: string): string[] {
  return [
    ...[...text.matchAll(decisionPath)].map((match) => match[1] ?? ""),
    ...[...text.matchAll(decisionNumbers)].flatMap((match) => match[1]?.match(/\d{4}/g) ?? []),
  ];
}

/** Anchors of headings, as GitHub derives them. */
function findAnchors(text: string): ReadonlySet<string> {
  const anchors = new Set<string>();
  for (const [, heading = ""] of text.replace(fencedCode, "").matchAll(/^#{1,6} +(.+?) *#*$/gm)) {
    const anchor = heading
      .replace(/\[([^\]]*)\]\([^)]*\)/g, "$1")
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\p{M}\s_-]/gu, "")
      .replace(/\s/g, "-");
    let unique = anchor;
    for (let count = 1; anchors.has(unique); count += 1) unique = `${anchor}-${String(count)}`;
    anchors.add(unique);
  }
  return anchors;
}

function withFolders(files: Iterable<string>): ReadonlySet<string> {
  const paths = new Set<string>(["."]);
  for (const file of files)
    for (let path = file; path !== "." && !paths.has(path); path = posix.dirname(path)) paths.add(path);
  return paths;
}
