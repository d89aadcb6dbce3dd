import type { ReleaseRecord } from "@relicario/shared/contract";
import { matchPath } from "react-router-dom";

import { getReleaseUrl } from "../deployment/integrity.ts";
import type { VerifiedDeployment } from "../deployment/verify.ts";

/**
 * Preloads the first scripts of the address's area, with their signed hashes, while the host's own
 * code loads. Does not preload scripts of other remotes that the area uses, such as the vault: on a
 * slow connection they would delay the area.
 */
export function preloadArea(
  { remotes }: Pick<VerifiedDeployment, "remotes">,
  { origin, pathname }: Pick<Location, "origin" | "pathname">,
  document: Document,
): void {
  const path = pathname === "/" ? "/home" : pathname;
  for (const remote of remotes.values()) {
    if (
      remote.status !== "verified" ||
      !remote.record.manifest.routes.some((route) => matchPath(route.path, path) !== null)
    )
      continue;
    for (const file of listFirstScripts(remote.record)) {
      const link = document.createElement("link");
      Object.assign(link, {
        rel: "preload",
        as: "script",
        href: `${getReleaseUrl(origin, remote.record)}${file}`,
        integrity: remote.record.files[file],
        crossOrigin: "anonymous",
      });
      document.head.append(link);
    }
    return;
  }
}

function listFirstScripts({ federation, files }: ReleaseRecord): readonly string[] {
  const entryScripts = federation.exposes?.flatMap(({ assets }) => assets.js.sync) ?? [];
  return ["remoteEntry.js", ...entryScripts].filter((file) => Object.hasOwn(files, file));
}
