import type { ReleaseRecord, RemoteName } from "@relicario/shared/contract";
import { matchPath } from "react-router-dom";
import { z } from "zod";

import { releaseAddress } from "../deployment/integrity.ts";
import type { VerifiedDeployment } from "../deployment/verify.ts";

/** Of federation's manifest: the scripts that a remote's one exposed module begins with. */
const Exposed = z.object({ exposes: z.array(z.object({ assets: z.object({ js: z.object({ sync: z.array(z.string()) }) }) })) });

/**
 * Asks for the first scripts of the area that the address shows, with their signed hashes, while the host's own code is still
 * at work: they need not wait for it, nor for each other. An area that uses the vault begins with recovery's too, once its own
 * have arrived: on a thin line they would come later for it.
 */
export async function preloadArea({ remotes }: Pick<VerifiedDeployment, "remotes">, { origin, pathname }: Pick<Location, "origin" | "pathname">, document: Document): Promise<void> {
  const path = pathname === "/" ? "/home" : pathname;
  const verified = (name: RemoteName): ReleaseRecord | null => {
    const remote = remotes.get(name);
    return remote?.status === "verified" ? remote.record : null;
  };
  const shown = [...remotes.keys()].map(verified).find((record) => record?.manifest.routes.some((route) => matchPath(route.path, path) !== null) === true) ?? null;
  if (shown === null) return;
  await preload(shown, origin, document);
  const vault = shown.manifest.capabilities.includes("vault") ? verified("recovery") : null;
  if (vault !== null && vault !== shown) await preload(vault, origin, document);
}

/** Answered when all have arrived, or failed. */
async function preload(record: ReleaseRecord, origin: string, document: Document): Promise<void> {
  await Promise.all(
    firstScripts(record).map((file) => {
      const link = document.createElement("link");
      Object.assign(link, { rel: "preload", as: "script", href: `${releaseAddress(origin, record)}${file}`, integrity: record.files[file], crossOrigin: "anonymous" });
      document.head.append(link);
      return new Promise((settle) => {
        link.addEventListener("load", settle);
        link.addEventListener("error", settle);
      });
    }),
  );
}

function firstScripts({ federation, files }: ReleaseRecord): readonly string[] {
  const exposed = Exposed.safeParse(federation);
  const begun = exposed.success ? exposed.data.exposes.flatMap(({ assets }) => assets.js.sync) : [];
  return ["remoteEntry.js", ...begun].filter((file) => Object.hasOwn(files, file));
}
