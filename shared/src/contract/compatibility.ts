import satisfies from "semver/functions/satisfies.js";

import type { ReleaseRecord } from "./deployment.ts";

export { findNavigationProblems, navigationIcons } from "./manifest-navigation.ts";

const caretRange = /^\^[1-9][0-9]*(\.[0-9]+){0,2}$/;

/**
 * Whether `version` is in a caret range (`^1`, `^1.2`, `^1.2.3`): it has the same major version,
 * and is not older. Returns false for other semver ranges: `*` or `>=1` would include versions that
 * no one has tested.
 */
export function isInCaretRange(version: string, range: string): boolean {
  return caretRange.test(range) && satisfies(version, range);
}

/** A part of the contract that a decided later version lacks. */
export interface Deprecation {
  /** As in `capability "drives"` or `Portal.report`. */
  readonly part: string;
  readonly instead: string;
  /** First version with what replaces it. */
  readonly since: string;
  readonly removedIn: string;
  /** Day from which hosts may have that version, as in `2027-03-01`. */
  readonly removedOn: string;
}

/** Printed by `portal verify`. A part is listed for at least one minor version before it goes. */
export const deprecations: readonly Deprecation[] = [];

/**
 * Parts that were deprecated after the first version of a range: nothing says that the remote's
 * team knows it. The tools refuse such a release one version before the host has to.
 */
export function findUnknownDeprecations(
  range: string,
  deprecated: readonly Deprecation[] = deprecations,
): readonly Deprecation[] {
  const [major = "0", minor = "0", patch = "0"] = range.replace("^", "").split(".");
  return deprecated.filter(({ since }) => !satisfies(`${major}.${minor}.${patch}`, `>=${since}`));
}

/** Shared packages that a release requires, and of which the host provides no matching version. */
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
