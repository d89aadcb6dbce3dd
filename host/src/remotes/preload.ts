import { matchPath } from "react-router-dom";

import { releaseAddress } from "../deployment/integrity.ts";
import type { VerifiedDeployment } from "../deployment/verify.ts";

/** What every remote begins with, as the shared webpack preset names it. */
const firstFiles = ["remoteEntry.js", "remote.js"] as const;

/**
 * Asks for the first files of the area that the address shows, with their signed hashes, while the host's own code is on its
 * way: they need not wait for it, nor for each other.
 */
export function preloadArea({ remotes }: Pick<VerifiedDeployment, "remotes">, { origin, pathname }: Pick<Location, "origin" | "pathname">, document: Document): void {
  const path = pathname === "/" ? "/home" : pathname;
  for (const remote of remotes.values()) {
    if (remote.status !== "verified" || !remote.record.manifest.routes.some((route) => matchPath(route.path, path) !== null)) continue;
    for (const file of firstFiles) {
      const integrity = remote.record.files[file];
      if (integrity === undefined) continue;
      const link = document.createElement("link");
      Object.assign(link, { rel: "preload", as: "script", href: `${releaseAddress(origin, remote.record)}${file}`, integrity, crossOrigin: "anonymous" });
      document.head.append(link);
    }
  }
}
