/**
 * Signs the deployment document at its start and daily, in the only container with the portal's
 * private key. Adds the image's releases to the registry, and keeps the operator's choices, as `npm
 * start` does. Operations of `npm run portal` run in this container. Environment: `readEnvironment`
 * below.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";

import { Origin, PortalTrustAnchors } from "@relicario/shared/contract";
import { z } from "zod";

import { makeDeployment } from "../deployment/deployment.ts";
import { publishAtStart, type StartInput } from "../portal/operations.ts";
import { openStore } from "../portal/store.ts";
import { listReleases, loadVerifiedRelease, parseRecord } from "../release/registry.ts";
import { readEnvironment } from "../serve/environment.ts";

const HttpUrl = z.url({ protocol: /^https?$/, error: "is not an http(s) address" });
const settings = readEnvironment("deployment-signer", {
  VENDOR_ID: z.string().default("relicario"),
  PUBLIC_ORIGIN: HttpUrl,
  VAULT_ORIGIN: Origin,
  IDP_AUTHORITY: HttpUrl,
  IDP_CLIENT_ID: z.string().default("relicario-portal"),
  API_BASE_URL: HttpUrl,
  ENVIRONMENT: z.string().default("test"),
  APP_VERSION: z.string().default("0.3.1"),
  KEYS_FOLDER: z.string().min(1),
  DEPLOYMENTS_FOLDER: z.string().min(1),
  /** The registry. */
  RELEASES_FOLDER: z.string().min(1),
  /** Output of collect-releases.ts. */
  BUILT_RELEASES_FOLDER: z.string().min(1),
});
const renewalIntervalMs = 24 * 60 * 60_000;

const store = await openStore({
  keysFolder: settings.KEYS_FOLDER,
  deploymentsFolder: settings.DEPLOYMENTS_FOLDER,
  registryFolder: settings.RELEASES_FOLDER,
});
const teamKeys = PortalTrustAnchors.shape.team_keys.parse(
  JSON.parse(readFileSync(join(settings.BUILT_RELEASES_FOLDER, "team-keys.json"), "utf8")),
);

async function loadBuiltRelease(remote: string): Promise<StartInput["releases"][number]> {
  const [releaseId = ""] = listReleases(settings.BUILT_RELEASES_FOLDER, remote);
  const release = await loadVerifiedRelease(settings.BUILT_RELEASES_FOLDER, releaseId, () => teamKeys[remote] ?? []);
  const record = parseRecord(release);
  if (record === null) throw new TypeError(`${releaseId} has a record of another format`);
  return { record, jws: release.jws, folder: release.folder };
}

async function publish(): Promise<void> {
  const releases = await Promise.all(Object.keys(teamKeys).map(loadBuiltRelease));
  const initialDeployment = makeDeployment(
    {
      vendorId: settings.VENDOR_ID,
      origin: settings.PUBLIC_ORIGIN,
      vaultOrigin: settings.VAULT_ORIGIN,
      environment: settings.ENVIRONMENT,
      appVersion: settings.APP_VERSION,
      identity: { authority: settings.IDP_AUTHORITY, client_id: settings.IDP_CLIENT_ID, scope: "openid profile email" },
      api: { base_url: settings.API_BASE_URL, credentials: false },
      releases,
    },
    1,
    new Date(),
  );
  const deployment = await publishAtStart(store, {
    deployment: initialDeployment,
    trustAnchors: {
      vendor_id: settings.VENDOR_ID,
      portal_keys: [store.portalKeyPair.publicKey],
      team_keys: teamKeys,
    },
    releases,
  });
  console.log(
    JSON.stringify({ signed: deployment.vendor_id, sequence: deployment.sequence, not_after: deployment.not_after }),
  );
}

await publish();
const renewal = setInterval(() => {
  publish().catch((error: unknown) => console.error(error instanceof Error ? error.message : "unknown"));
}, renewalIntervalMs);
for (const signal of ["SIGTERM", "SIGINT"] as const) process.on(signal, () => clearInterval(renewal));
