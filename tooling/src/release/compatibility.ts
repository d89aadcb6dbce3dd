/** Objections to running a release with a vendor's other remotes. */
import { CONTRACT_VERSION, ReleaseRecord, type RemoteManifest } from "@relicario/shared/contract";
import { isInCaretRange, findUnmetRequirements } from "@relicario/shared/contract/compatibility";
import { sharedModules } from "@relicario/shared/webpack/versions";

import { findConflicts } from "./conflicts.ts";
import type { RegisteredRelease } from "./registry.ts";
import { findMissingTitles } from "./titles.ts";

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
  { signedRecord, folder }: Pick<RegisteredRelease, "signedRecord" | "folder">,
  { contract, offeredVersions, otherRemotes }: HostEnvironment,
): readonly string[] {
  const requiredContract = signedRecord.manifest.contract;
  if (!isInCaretRange(contract, requiredContract))
    return [`it is built for contract ${requiredContract}, and the host offers ${contract}`];
  const { data: record, error } = ReleaseRecord.safeParse(signedRecord);
  if (record === undefined)
    return error.issues.map(({ path, message }) => `the host cannot read its record: ${path.join(".")} ${message}`);
  const unmetRequirements = findUnmetRequirements(record, offeredVersions).map(
    ({ name, requiredVersion }) =>
      `it needs ${name} ${requiredVersion}, and the host gives ${offeredVersions[name] ?? "none"}`,
  );
  return [
    ...unmetRequirements,
    ...findConflicts(record.manifest, otherRemotes),
    ...findMissingTitles(record.manifest, folder),
  ];
}
