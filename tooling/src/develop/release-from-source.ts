import { readFileSync } from "node:fs";
import { join } from "node:path";

import type { PortalTrustAnchors, RemoteName } from "@relicario/shared/contract";
import type { GeneralJWS } from "jose";
import { z } from "zod";

import { signDeployment, createValidityFields } from "../deployment/deployment.ts";
import { loadTeamKeyPair } from "../keys/development-keys.ts";
import { readVendor, type PortalStore } from "../portal/store.ts";
import { listFiles } from "../release/files.ts";
import { computeFileIntegrity } from "../release/integrity.ts";
import { isExcludedFromRelease, createReleaseRecord, signCompact } from "../release/release.ts";

/**
 * In its name where others have the hash of their files: it stays while they change, so that open
 * pages go on.
 */
const placeholderHash = "0".repeat(12);
const hotUpdate = /\.hot-update\.(js|json)$/;

/** A remote that is built over and over, as a release of the portal beside it. */
export interface SourceRelease {
  readonly remote: RemoteName;
  /** Where its files are served. */
  readonly path: string;
  /** The portal's document in force, for `origin` and with this release as it is at this moment. */
  readonly buildDocument: (origin: string) => Promise<GeneralJWS>;
  /** The portal's page, whose team of this remote is this machine's. */
  readonly buildPage: () => Promise<PortalTrustAnchors>;
}

/**
 * @param folder the remote's package
 * @param webFolder what webpack makes of it
 */
export function createSourceRelease(
  remote: RemoteName,
  {
    folder,
    webFolder,
    store,
    vendor: vendorId,
  }: { readonly folder: string; readonly webFolder: string; readonly store: PortalStore; readonly vendor: string },
): SourceRelease {
  const { version } = z
    .object({ version: z.string() })
    .parse(JSON.parse(readFileSync(join(folder, "package.json"), "utf8")));
  const release = `${remote}-${version}-${placeholderHash}`;
  return {
    remote,
    path: `/r/${remote}/${release}`,
    buildDocument: async (origin) => {
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
      return signDeployment(developmentDeployment, store.key);
    },
    buildPage: async () => {
      const { page: trustAnchors } = await readVendor(store, vendorId);
      return {
        ...trustAnchors,
        team_keys: { ...trustAnchors.team_keys, [remote]: [(await loadTeamKeyPair(remote)).publicKey] },
      };
    },
  };
}

/** Hashes of what is there now. */
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
