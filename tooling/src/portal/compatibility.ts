/**
 * Whether a release can run beside what a vendor has: the reasons against it, in words for whoever
 * wants to promote it.
 */
import { CONTRACT_VERSION, pathsOverlap, type ReleaseRecord, type RemoteManifest } from "@relicario/shared/contract";
import { isInCaretRange, unmetRequirements } from "@relicario/shared/contract/compatibility";
import { sharedModules } from "@relicario/shared/webpack";

import { recordOf, type RegisteredRelease } from "./registry.ts";

const given = Object.fromEntries(Object.entries(sharedModules).map(([name, { version }]) => [name, version]));

/** What a release would run beside: the host, and the other remotes of a vendor. */
export interface Surroundings {
  readonly contract: string;
  readonly given: Readonly<Record<string, string>>;
  readonly beside: readonly RemoteManifest[];
}

/** The host of this checkout beside those remotes. */
export const hostBeside = (beside: readonly RemoteManifest[]): Surroundings => ({
  contract: CONTRACT_VERSION,
  given,
  beside,
});

/**
 * Objections of the contract, of the shared packages and of the other remotes; none when it fits.
 */
export function objectionsTo(
  release: Pick<RegisteredRelease, "signed">,
  { contract, given: versions, beside }: Surroundings,
): readonly string[] {
  const asked = release.signed.manifest.contract;
  if (!isInCaretRange(contract, asked)) return [`it is built for contract ${asked}, and the host offers ${contract}`];
  const record = recordOf(release);
  if (record === null) return ["its record is not one that the host can read"];
  const unmet = unmetRequirements(record, versions).map(
    ({ name, requiredVersion }) =>
      `it needs ${name} ${requiredVersion}, and the host gives ${versions[name] ?? "none"}`,
  );
  return [...unmet, ...claimsOf(record.manifest, beside)];
}

/** Two remotes that claim one path, or one namespace of texts, would each be half there. */
export function claimsOf(manifest: ReleaseRecord["manifest"], beside: readonly RemoteManifest[]): readonly string[] {
  return beside.flatMap((other) => {
    const paths = manifest.routes.flatMap(({ path }) => {
      const claimed = other.routes.find((route) => pathsOverlap(route.path, path));
      return claimed === undefined
        ? []
        : [`${other.name} and ${manifest.name} both claim a path: ${claimed.path} and ${path}`];
    });
    const texts = manifest.namespaces
      .filter((namespace) => other.namespaces.includes(namespace))
      .map((namespace) => `${other.name} and ${manifest.name} both own the texts ${namespace}`);
    return [...paths, ...texts];
  });
}
