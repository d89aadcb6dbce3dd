import type { ReleaseRecord } from "@relicario/shared/contract";
import { matchPath } from "react-router-dom";
import { z } from "zod";

import { getReleaseUrl } from "../deployment/integrity.ts";
import type { VerifiedDeployment } from "../deployment/verify.ts";

/** Of federation's manifest: the scripts that a remote's one exposed module begins with. */
const ExposedModules = z.object({
  exposes: z.array(z.object({ assets: z.object({ js: z.object({ sync: z.array(z.string()) }) }) })),
});

/**
 * Asks for the first scripts of the area that the address shows, with their signed hashes, while
 * the host's own code is still at work: they need not wait for it, nor for each other. What the
 * area uses of another one, such as the vault, comes after them: on a thin line they would come
 * later for it.
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
  const exposed = ExposedModules.safeParse(federation);
  const entryScripts = exposed.success ? exposed.data.exposes.flatMap(({ assets }) => assets.js.sync) : [];
  return ["remoteEntry.js", ...entryScripts].filter((file) => Object.hasOwn(files, file));
}
