import satisfies from "semver/functions/satisfies.js";

import type { ReleaseRecord } from "./deployment.ts";

const caretRange = /^\^[1-9][0-9]*(\.[0-9]+){0,2}$/;

/**
 * Whether `version` is in a caret range (`^1`, `^1.2`, `^1.2.3`): it has the same major version,
 * and is not older. Returns false for other semver ranges: `*` or `>=1` would include versions that
 * no one has tested.
 */
export function isInCaretRange(version: string, range: string): boolean {
  return caretRange.test(range) && satisfies(version, range);
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
