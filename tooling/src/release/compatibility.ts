/** Objections to running a release with a vendor's other remotes. */
import { CONTRACT_VERSION, ReleaseRecord, type RemoteManifest } from "@relicario/shared/contract";
import {
  deprecations,
  findUnknownDeprecations,
  findUnmetRequirements,
  isInCaretRange,
  type Deprecation,
} from "@relicario/shared/contract/compatibility";
import { sharedModules } from "@relicario/shared/webpack/versions";

import { findConflicts } from "./conflicts.ts";
import type { RegisteredRelease } from "./registry.ts";
import { findReleasedNavigationProblems } from "./navigation.ts";

const hostVersions = Object.fromEntries(Object.entries(sharedModules).map(([name, { version }]) => [name, version]));

export interface HostEnvironment {
  readonly contract: string;
  readonly deprecations: readonly Deprecation[];
  readonly offeredVersions: Readonly<Record<string, string>>;
  readonly otherRemotes: readonly RemoteManifest[];
}

export const createHostEnvironment = (otherRemotes: readonly RemoteManifest[]): HostEnvironment => ({
  contract: CONTRACT_VERSION,
  deprecations,
  offeredVersions: hostVersions,
  otherRemotes,
});

/** Lists the deprecated parts of the contract, one line each. */
export const formatDeprecations = (deprecated: readonly Deprecation[] = deprecations): readonly string[] =>
  deprecated.map(
    ({ part, instead, since, removedIn, removedOn }) =>
      `Deprecated since contract ${since}: ${part}. Contract ${removedIn} has none, from ${removedOn} on: use ${instead}.`,
  );

export function findObjections(
  { signedRecord, folder }: Pick<RegisteredRelease, "signedRecord" | "folder">,
  { contract, deprecations: deprecated, offeredVersions, otherRemotes }: HostEnvironment,
): readonly string[] {
  const requiredContract = signedRecord.manifest.contract;
  if (!isInCaretRange(contract, requiredContract))
    return [`it is built for contract ${requiredContract}, and the host offers ${contract}`];
  const { data: record, error } = ReleaseRecord.safeParse(signedRecord);
  if (record === undefined)
    return error.issues.map(({ path, message }) => `the host cannot read its record: ${path.join(".")} ${message}`);
  const endingRange = findUnknownDeprecations(requiredContract, deprecated).map(
    ({ part, instead, since, removedIn, removedOn }) =>
      `its range ${requiredContract} ends on ${removedOn} with contract ${removedIn}, which has no ${part}: use ${instead}, and build it for ^${since}`,
  );
  const unmetRequirements = findUnmetRequirements(record, offeredVersions).map(
    ({ name, requiredVersion }) =>
      `it needs ${name} ${requiredVersion}, and the host gives ${offeredVersions[name] ?? "none"}`,
  );
  return [
    ...endingRange,
    ...unmetRequirements,
    ...findConflicts(record.manifest, otherRemotes),
    ...findReleasedNavigationProblems(record.manifest, folder),
  ];
}
