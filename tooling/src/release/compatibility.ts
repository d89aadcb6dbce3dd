/** Objections to running a release with a vendor's other remotes. */
import {
  CONTRACT_VERSION,
  hostPaths,
  pathsOverlap,
  type ReleaseRecord,
  type RemoteManifest,
} from "@relicario/shared/contract";
import { isInCaretRange, findUnmetRequirements } from "@relicario/shared/contract/compatibility";
import { sharedModules } from "@relicario/shared/webpack";

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

/** A path, or a namespace of texts, can belong to one remote only, or to the host. */
export function findConflicts(
  manifest: ReleaseRecord["manifest"],
  otherRemotes: readonly RemoteManifest[],
): readonly string[] {
  const hostConflicts = manifest.routes.flatMap(({ path }) => {
    const hostPath = hostPaths.find((candidate) => pathsOverlap(candidate, path));
    return hostPath === undefined ? [] : [`${path} leads to the host's own page ${hostPath}`];
  });
  const remoteConflicts = otherRemotes.flatMap((otherRemote) => {
    const pathConflicts = manifest.routes.flatMap(({ path }) => {
      const overlappingRoute = otherRemote.routes.find((route) => pathsOverlap(route.path, path));
      return overlappingRoute === undefined
        ? []
        : [`${otherRemote.name} and ${manifest.name} both claim a path: ${overlappingRoute.path} and ${path}`];
    });
    const textConflicts = manifest.namespaces
      .filter((namespace) => otherRemote.namespaces.includes(namespace))
      .map((namespace) => `${otherRemote.name} and ${manifest.name} both own the texts ${namespace}`);
    return [...pathConflicts, ...textConflicts];
  });
  return [...hostConflicts, ...remoteConflicts];
}
