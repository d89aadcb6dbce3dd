/**
 * Tiers of tests, derived from docs/coverage.md: `npm test` runs the first, `npm run test:stories`
 * the second.
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

/** Stories of the main tasks: always in the first tier. */
export const mainStories: readonly string[] = ["e2e/specs/protect-and-recover.spec.ts", "e2e/specs/sharing.spec.ts"];

/** Most related unit files that the first tier adds: a minute and a half on two processors. */
export const maxRelatedFiles = 60;

/** In neither tier: other commands run them. */
const excludedFiles =
  /^((e2e\/attacks|e2e\/compose|e2e\/keycloak|host\/released|tooling\/template)\/|(api\/src\/db\/pooler|tooling\/src\/test\/promtool|tooling\/src\/containers\/chart)\.test\.ts$)/;
const storyFolder = "e2e/specs/";
/**
 * Conformance of remotes, and assertions that a fake shares with what it replaces: always in the
 * first tier.
 */
const contractSuites = /\/src\/conformance\.test\.tsx$|\/contracts\//;

/** Null for neither tier. */
function classifyTestFile(file: string): keyof TestFiles | null {
  if (excludedFiles.test(file)) return null;
  return file.startsWith(storyFolder) ? "stories" : "units";
}

/**
 * First tier: units that a fact names, conformance and contract suites, units related to a change,
 * and the fewest stories, main ones included, that show all facts without a unit. Second: all
 * others.
 *
 * @param related nearest first
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

/** Greedy set cover; among equals the first by name. */
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
