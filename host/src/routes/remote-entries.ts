import type { RemoteManifest, RemoteName } from "@relicario/shared/contract";

import type { VerifiedDeployment } from "../deployment/verify.ts";
import type { PortalRoute } from "./routes.ts";

/** An entry that a remote adds to the navigation. */
export interface RemoteEntry {
  readonly remote: RemoteName;
  readonly path: string;
  readonly titleKey: string;
  /** Title while the remote's texts are not loaded. */
  readonly areaTitle: RemoteManifest["title"];
  readonly icon: string;
  /** The entry exists unless the deployment sets one of these features to `false`. */
  readonly features: readonly string[];
}

/**
 * Entries of the verified remotes, in the order of their numbers. Leaves out those whose route
 * another remote has.
 */
export function listRemoteEntries(
  remotes: VerifiedDeployment["remotes"],
  routes: readonly PortalRoute[],
): readonly RemoteEntry[] {
  return [...remotes]
    .flatMap(([remote, verifiedRemote]) => {
      if (verifiedRemote.status !== "verified") return [];
      const { navigation = [], title } = verifiedRemote.record.manifest;
      return navigation.map((entry) => ({ ...entry, remote, areaTitle: title }));
    })
    .sort((a, b) => a.order - b.order)
    .flatMap(({ remote, route: path, titleKey, areaTitle, icon, feature }) => {
      const route = routes.find((candidate) => candidate.path === path);
      if (route === undefined || !("remote" in route) || route.remote !== remote) return [];
      const features = [feature, route.feature].filter((name) => name !== undefined);
      return [{ remote, path, titleKey, areaTitle, icon, features }];
    });
}
