/**
 * Whether a release can run beside what a vendor has: the reasons against it, in words for whoever
 * wants to promote it.
 */
import { CONTRACT_VERSION, pathsOverlap, type ReleaseRecord, type RemoteManifest } from "@relicario/shared/contract";
import { isInCaretRange, findUnmetRequirements } from "@relicario/shared/contract/compatibility";
import { sharedModules } from "@relicario/shared/webpack";

import { parseRecord, type RegisteredRelease } from "./registry.ts";

const hostVersions = Object.fromEntries(Object.entries(sharedModules).map(([name, { version }]) => [name, version]));

/** What a release would run beside: the host, and the other remotes of a vendor. */
export interface HostEnvironment {
  readonly contract: string;
  readonly offered: Readonly<Record<string, string>>;
  readonly otherRemotes: readonly RemoteManifest[];
}

/** The host of this checkout beside those remotes. */
export const createHostEnvironment = (otherRemotes: readonly RemoteManifest[]): HostEnvironment => ({
  contract: CONTRACT_VERSION,
  offered: hostVersions,
  otherRemotes,
});

/**
 * Objections of the contract, of the shared packages and of the other remotes; none when it fits.
 */
export function findObjections(
  release: Pick<RegisteredRelease, "signedRecord">,
  { contract, offered: offeredVersions, otherRemotes }: HostEnvironment,
): readonly string[] {
  const requiredContract = release.signedRecord.manifest.contract;
  if (!isInCaretRange(contract, requiredContract))
    return [`it is built for contract ${requiredContract}, and the host offers ${contract}`];
  const record = parseRecord(release);
  if (record === null) return ["its record is not one that the host can read"];
  const unmet = findUnmetRequirements(record, offeredVersions).map(
    ({ name, requiredVersion }) =>
      `it needs ${name} ${requiredVersion}, and the host gives ${offeredVersions[name] ?? "none"}`,
  );
  return [...unmet, ...findConflicts(record.manifest, otherRemotes)];
}

/** Two remotes that claim one path, or one namespace of texts, would each be half there. */
export function findConflicts(
  manifest: ReleaseRecord["manifest"],
  otherRemotes: readonly RemoteManifest[],
): readonly string[] {
  return otherRemotes.flatMap((otherRemote) => {
    const pathConflicts = manifest.routes.flatMap(({ path }) => {
      const overlapping = otherRemote.routes.find((route) => pathsOverlap(route.path, path));
      return overlapping === undefined
        ? []
        : [`${otherRemote.name} and ${manifest.name} both claim a path: ${overlapping.path} and ${path}`];
    });
    const textConflicts = manifest.namespaces
      .filter((namespace) => otherRemote.namespaces.includes(namespace))
      .map((namespace) => `${otherRemote.name} and ${manifest.name} both own the texts ${namespace}`);
    return [...pathConflicts, ...textConflicts];
  });
}
