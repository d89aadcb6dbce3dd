import { readFileSync } from "node:fs";
import { join } from "node:path";

import type { PortalTrustAnchors, RemoteName } from "@relicario/shared/contract";
import type { GeneralJWS } from "jose";
import { z } from "zod";

import { signDeployment, createValidityFields } from "../deployment/deployment.ts";
import { loadTeamKeyPair } from "../keys/signing-keys.ts";
import { readVendor, type PortalStore } from "../portal/store.ts";
import { listFiles } from "../release/files.ts";
import { computeFileIntegrity } from "../release/integrity.ts";
import { isExcludedFromRelease, createReleaseRecord, signCompact } from "../release/release.ts";

/**
 * Stands for the hash in the release's name. The name stays when files change, so that open pages
 * keep working.
 */
const placeholderHash = "0".repeat(12);
const hotUpdate = /\.hot-update\.(js|json)$/;

/** A remote in development, as a release of the running portal. */
export interface SourceRelease {
  readonly remote: RemoteName;
  readonly path: string;
  /** Signs the portal's current document for `origin`, with the current build as this release. */
  readonly signDocument: (origin: string) => Promise<GeneralJWS>;
  /** Trust anchors of the portal's page, with this machine's key as the remote's team key. */
  readonly loadTrustAnchors: () => Promise<PortalTrustAnchors>;
}

export function createSourceRelease(
  remote: RemoteName,
  {
    folder,
    webFolder,
    store,
    vendorId,
  }: { readonly folder: string; readonly webFolder: string; readonly store: PortalStore; readonly vendorId: string },
): SourceRelease {
  const { version } = z
    .object({ version: z.string() })
    .parse(JSON.parse(readFileSync(join(folder, "package.json"), "utf8")));
  const release = `${remote}-${version}-${placeholderHash}`;
  return {
    remote,
    path: `/r/${remote}/${release}`,
    signDocument: async (origin) => {
      const { deployment } = await readVendor(store, vendorId);
      const record = createReleaseRecord(
        { remote, packageFolder: folder, webFolder },
        hashFiles(folder, webFolder),
        placeholderHash,
      );
      const { api } = deployment;
      const developmentDeployment = {
        ...deployment,
        origin,
        ...createValidityFields(new Date()),
        sequence: Math.floor(Date.now() / 1000),
        api: { ...api, base_url: `${origin}/api`, issuer: api.issuer ?? api.base_url },
        releases: { ...deployment.releases, [remote]: { stable: release } },
        release_records: {
          ...deployment.release_records,
          [release]: await signCompact(record, await loadTeamKeyPair(remote)),
        },
      };
      return signDeployment(developmentDeployment, store.portalKeyPair);
    },
    loadTrustAnchors: async () => {
      const { trustAnchors } = await readVendor(store, vendorId);
      return {
        ...trustAnchors,
        team_keys: { ...trustAnchors.team_keys, [remote]: [(await loadTeamKeyPair(remote)).publicKey] },
      };
    },
  };
}

function hashFiles(folder: string, webFolder: string): Record<string, string> {
  const localesFolder = join(folder, "src/locales");
  return Object.fromEntries([
    ...listFiles(webFolder)
      .filter((file) => !isExcludedFromRelease(file) && !hotUpdate.test(file))
      .map((file) => [file, computeFileIntegrity(join(webFolder, file))] as const),
    ...listFiles(localesFolder)
      .filter((file) => file.endsWith(".json"))
      .map((file) => [`locales/${file}`, computeFileIntegrity(join(localesFolder, file))] as const),
  ]);
}
