/**
 * Signs the deployment document daily, in the only container with the portal's private key.
 * Environment: `readEnvironment` below.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { Origin, PortalTrustAnchors, ReleaseRecord, type RemoteName } from "@relicario/shared/contract";
import { compactVerify, importJWK } from "jose";
import { z } from "zod";

import { publishDeployment } from "../deployment/deployment.ts";
import { loadOrCreateKeyPair } from "../keys/signing-keys.ts";
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
  /** Output of collect-releases.ts. */
  RELEASES_FOLDER: z.string().min(1),
});
const renewalIntervalMs = 24 * 60 * 60_000;

const portalKeyPair = await loadOrCreateKeyPair(settings.KEYS_FOLDER, "portal");
const teamKeys = PortalTrustAnchors.shape.team_keys.parse(
  JSON.parse(readFileSync(join(settings.RELEASES_FOLDER, "team-keys.json"), "utf8")),
);

async function readRelease(name: RemoteName): Promise<{ record: ReleaseRecord; jws: string }> {
  const jws = readFileSync(join(settings.RELEASES_FOLDER, "records", `${name}.jws`), "utf8");
  const { payload } = await compactVerify(
    jws,
    async ({ kid }) => importJWK(teamKeys[name]?.find((key) => key.kid === kid) ?? {}, "EdDSA"),
    { algorithms: ["EdDSA"] },
  );
  return { jws, record: ReleaseRecord.parse(JSON.parse(new TextDecoder().decode(payload))) };
}

async function publish(): Promise<void> {
  const deployment = await publishDeployment(
    settings.DEPLOYMENTS_FOLDER,
    {
      vendorId: settings.VENDOR_ID,
      origin: settings.PUBLIC_ORIGIN,
      vaultOrigin: settings.VAULT_ORIGIN,
      environment: settings.ENVIRONMENT,
      appVersion: settings.APP_VERSION,
      identity: { authority: settings.IDP_AUTHORITY, client_id: settings.IDP_CLIENT_ID, scope: "openid profile email" },
      api: { base_url: settings.API_BASE_URL, credentials: false },
      releases: await Promise.all(Object.keys(teamKeys).map(readRelease)),
    },
    portalKeyPair,
  );
  console.log(
    JSON.stringify({ signed: deployment.vendor_id, sequence: deployment.sequence, not_after: deployment.not_after }),
  );
}

const trustAnchors: PortalTrustAnchors = {
  vendor_id: settings.VENDOR_ID,
  portal_keys: [portalKeyPair.publicKey],
  team_keys: teamKeys,
};
await publish();
// Public keys, which the gateway puts into the host's page.
writeFileSync(join(settings.DEPLOYMENTS_FOLDER, "page"), JSON.stringify(trustAnchors));

const renewal = setInterval(() => {
  publish().catch((error: unknown) => console.error(error instanceof Error ? error.message : "unknown"));
}, renewalIntervalMs);
for (const signal of ["SIGTERM", "SIGINT"] as const) process.on(signal, () => clearInterval(renewal));
