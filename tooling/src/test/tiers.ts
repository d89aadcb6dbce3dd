/**
 * What runs when: `npm test` runs the first tier, `npm run test:stories` the second. Both follow
 * from docs/coverage.md.
 */
import type { CoverageRow } from "./coverage-table.ts";

export type TierName = "first" | "second";

/** Paths of test files, from the root. */
export interface TestFiles {
  readonly units: readonly string[];
  readonly stories: readonly string[];
}

export interface Tiers {
  readonly first: TestFiles;
  readonly second: TestFiles;
  /** Unit files related to a change that did not fit into the first tier. */
  readonly postponed: readonly string[];
}

/** Told at every run, whatever else shows their facts: what people come for. */
export const mainStories: readonly string[] = ["e2e/specs/protect-and-recover.spec.ts", "e2e/specs/sharing.spec.ts"];

/**
 * Unit files related to a change that the first tier takes beside its own: a minute and a half on
 * two processors.
 */
export const maxRelatedFiles = 60;

/**
 * Files that belong to neither tier: `npm run test:<name>`, a step of their own, or a package
 * outside of this one runs them.
 */
const excludedFiles = /^(e2e\/attacks|host\/released|tooling\/template)\//;
const storyFolder = "e2e/specs/";
/**
 * No fact names them, and others rest on them: what remotes promise the host, and the same
 * assertions on a fake and on what it stands for.
 */
const contractSuites = /\/src\/conformance\.test\.tsx$|\/contracts\//;

/** Sorts all test files of the checkout; null for what belongs to neither tier. */
function classifyTestFile(file: string): keyof TestFiles | null {
  if (excludedFiles.test(file)) return null;
  return file.startsWith(storyFolder) ? "stories" : "units";
}

/**
 * The first tier: unit files that a fact names, conformance and contract suites, unit files related
 * to what changed, and the fewest story files that show all facts which no unit shows, the main
 * ones among them. The second tier: all other files.
 *
 * @param related unit files related to what changed since the main branch, the nearest first
 */
export function assignTiers(
  files: readonly string[],
  rows: readonly CoverageRow[],
  related: readonly string[] = [],
): Tiers {
  const listFilesOfKind = (kind: keyof TestFiles): string[] =>
    files.filter((file) => classifyTestFile(file) === kind).sort();
  const coveredFiles = new Set(rows.flatMap(({ tests }) => tests));
  const belongsToFirst = (file: string): boolean => coveredFiles.has(file) || contractSuites.test(file);
  const newlyRelated = related.filter((file) => !belongsToFirst(file));
  const withinBudget = new Set(newlyRelated.slice(0, maxRelatedFiles));
  const [units, stories] = [listFilesOfKind("units"), listFilesOfKind("stories")];
  const selectedStories = selectStories(rows, stories);
  const isFirst = (file: string): boolean => belongsToFirst(file) || withinBudget.has(file);
  return {
    first: { units: units.filter(isFirst), stories: stories.filter((file) => selectedStories.has(file)) },
    second: {
      units: units.filter((file) => !isFirst(file)),
      stories: stories.filter((file) => !selectedStories.has(file)),
    },
    postponed: newlyRelated.slice(maxRelatedFiles),
  };
}

/**
 * A greedy set cover: each time the file that shows most of what is left; of equals the first by
 * name.
 */
function selectStories(rows: readonly CoverageRow[], stories: readonly string[]): ReadonlySet<string> {
  const selected = new Set(mainStories);
  let remaining = rows
    .map(({ tests }) => tests.filter((file) => classifyTestFile(file) !== null))
    .filter((tests) => tests.length > 0 && tests.every((file) => classifyTestFile(file) === "stories"));
  for (;;) {
    remaining = remaining.filter((tests) => !tests.some((file) => selected.has(file)));
    const countCovered = (file: string): number => remaining.filter((tests) => tests.includes(file)).length;
    const [best] = stories.toSorted((a, b) => countCovered(b) - countCovered(a));
    if (best === undefined || countCovered(best) === 0) return selected;
    selected.add(best);
  }
}
