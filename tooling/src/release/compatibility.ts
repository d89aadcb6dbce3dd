/** Objections to running a release with a vendor's other remotes. */
import { CONTRACT_VERSION, type RemoteManifest } from "@relicario/shared/contract";
import { isInCaretRange, findUnmetRequirements } from "@relicario/shared/contract/compatibility";
import { sharedModules } from "@relicario/shared/webpack/versions";

import { findConflicts } from "./conflicts.ts";
import { parseRecord, type RegisteredRelease } from "./registry.ts";

const hostVersions = Object.fromEntries(Object.entries(sharedModules).map(([name, { version }]) => [name, version]));

export interface HostEnvironment {
  readonly contract: string;
  readonly offeredVersions: Readonly<Record<string, string>>;
  readonly otherRemotes: readonly RemoteManifest[];
}

export const createHostEnvironment = (otherRemotes: readonly RemoteManifest[]): HostEnvironment => ({
  contract: CONTRACT_VERSION,
  offeredVersions: hostVersions,
  otherRemotes,
});

export function findObjections(
  release: Pick<RegisteredRelease, "signedRecord">,
  { contract, offeredVersions, otherRemotes }: HostEnvironment,
): readonly string[] {
  const requiredContract = release.signedRecord.manifest.contract;
  if (!isInCaretRange(contract, requiredContract))
    return [`it is built for contract ${requiredContract}, and the host offers ${contract}`];
  const record = parseRecord(release);
  if (record === null) return ["its record is not one that the host can read"];
  const unmetRequirements = findUnmetRequirements(record, offeredVersions).map(
    ({ name, requiredVersion }) =>
      `it needs ${name} ${requiredVersion}, and the host gives ${offeredVersions[name] ?? "none"}`,
  );
  return [...unmetRequirements, ...findConflicts(record.manifest, otherRemotes)];
}
