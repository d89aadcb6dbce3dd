import { hostPaths, pathsOverlap, type ReleaseRecord, type RemoteManifest } from "@relicario/shared/contract";

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
