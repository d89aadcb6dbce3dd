import satisfies from "semver/functions/satisfies.js";

import type { ReleaseRecord } from "./deployment.ts";

const caretRange = /^\^[1-9][0-9]*(\.[0-9]+){0,2}$/;

/**
 * Whether `version` is in a caret range (`^1`, `^1.2`, `^1.2.3`): the same major version, and not
 * older. A range in any other notation is refused, although semver would read it: `*` or `>=1`
 * would promise what a team cannot know.
 */
export function isInCaretRange(version: string, range: string): boolean {
  return caretRange.test(range) && satisfies(version, range);
}

/**
 * Shared packages that the code of a release asks for and a host does not give in that version:
 * names with the ranges asked for.
 */
export function findUnmetRequirements(
  { federation: { shared = [] } }: Pick<ReleaseRecord, "federation">,
  provided: Readonly<Record<string, string>>,
): readonly { readonly name: string; readonly requiredVersion: string }[] {
  return shared
    .filter(
      ({ name, requiredVersion }) =>
        !isInCaretRange(Object.hasOwn(provided, name) ? (provided[name] ?? "") : "", requiredVersion),
    )
    .map(({ name, requiredVersion }) => ({ name, requiredVersion }));
}
