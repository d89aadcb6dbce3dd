/**
 * Builds and signs a vendor's deployment document. Why code runs only as signed:
 * docs/decisions/0006-code-runs-only-as-signed.md
 */
import { hash } from "node:crypto";
import { mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { Deployment, isSameSiteVault, type ReleaseRecord, type VerificationKey } from "@relicario/shared/contract";
import { createLocalJWKSet, GeneralSign, generalVerify, type GeneralJWS } from "jose";
import { z } from "zod";

import { getErrorCode } from "../error-code.ts";
import type { SigningKeyPair } from "../keys/signing-keys.ts";
import { rootFolder } from "../paths.ts";
import { findConflicts } from "../release/conflicts.ts";
import type { Release } from "../release/release.ts";
import { UserFacingError } from "../user-facing-error.ts";

/** `tooling/vendors/<vendor>.json`. */
const VendorSettings = z.strictObject(
  Deployment.pick({ branding: true, features: true, messages: true, drives: true, payments: true, handovers: true })
    .shape,
);

const validityMs = 7 * 24 * 60 * 60_000;

export interface DeploymentInput {
  readonly vendorId: string;
  readonly origin: string;
  readonly vaultOrigin: string;
  readonly environment: string;
  readonly appVersion: string;
  readonly identity: Deployment["identity"];
  readonly api: Deployment["api"];
  /** Replaces the drives of the vendor's file. */
  readonly drives?: NonNullable<z.input<typeof Deployment>["drives"]>;
  readonly releases: readonly Pick<Release, "record" | "jws">[];
}

/** Signs a document with a higher sequence than all before into `<folder>/<vendor>.json`. */
export async function publishDeployment(
  folder: string,
  input: DeploymentInput,
  keyPair: SigningKeyPair,
  now: Date = new Date(),
): Promise<Deployment> {
  const deployment = makeDeployment(input, nextSequence(folder, input.vendorId, now), now);
  await writeSignedDeployment(folder, deployment, keyPair);
  return deployment;
}

/**
 * Signs a document into `<folder>/<vendor>.json`. Stores its sequence first: no number is used
 * twice.
 */
export async function writeSignedDeployment(
  folder: string,
  deployment: Deployment,
  keyPair: SigningKeyPair,
): Promise<void> {
  mkdirSync(folder, { recursive: true });
  writeFileAtomically(getSequenceFile(folder, deployment.vendor_id), `${String(deployment.sequence)}\n`);
  writeFileAtomically(
    join(folder, `${deployment.vendor_id}.json`),
    JSON.stringify(await signDeployment(deployment, keyPair)),
  );
}

export function createSigningFields(
  folder: string,
  vendorId: string,
  now: Date,
): Pick<Deployment, "sequence" | "issued_at" | "not_after"> {
  return { sequence: nextSequence(folder, vendorId, now), ...createValidityFields(now) };
}

export function createValidityFields(now: Date): Pick<Deployment, "issued_at" | "not_after"> {
  return { issued_at: now.toISOString(), not_after: new Date(now.getTime() + validityMs).toISOString() };
}

/** @throws UserFacingError for what every host would refuse */
export function makeDeployment(input: DeploymentInput, sequence: number, now: Date): Deployment {
  const vendor = VendorSettings.parse(
    JSON.parse(readFileSync(join(rootFolder, `tooling/vendors/${input.vendorId}.json`), "utf8")),
  );
  rejectConflictingClaims(input.releases.map(({ record }) => record.manifest));
  const releases = Object.fromEntries(
    input.releases.map(({ record }) => [record.manifest.name, { stable: record.release }]),
  );
  const deployment = Deployment.safeParse({
    v: 1,
    vendor_id: input.vendorId,
    origin: input.origin,
    vault_origin: input.vaultOrigin,
    sequence,
    ...createValidityFields(now),
    environment: input.environment,
    app_version: input.appVersion,
    ...vendor,
    ...(input.drives !== undefined && { drives: input.drives }),
    identity: input.identity,
    api: input.api,
    releases,
    release_records: Object.fromEntries(input.releases.map(({ record, jws }) => [record.release, jws])),
  });
  if (!deployment.success)
    throw new UserFacingError(
      `The deployment document of ${input.vendorId} would be wrong:\n${z.prettifyError(deployment.error)}`,
    );
  if (!isSameSiteVault(input.origin, input.vaultOrigin))
    throw new UserFacingError(
      `${input.vaultOrigin} cannot be the vault's origin of ${input.origin}: it must be another origin of the same site.`,
    );
  return deployment.data;
}

/** @throws UserFacingError when two remotes claim the same path or the same texts */
export function rejectConflictingClaims(manifests: readonly ReleaseRecord["manifest"][]): void {
  for (const [index, manifest] of manifests.entries()) {
    const [conflict] = findConflicts(
      manifest,
      manifests.slice(0, index).filter(({ name }) => name !== manifest.name),
    );
    if (conflict !== undefined) throw new UserFacingError(`${conflict}.`);
  }
}

/** [Note: The signed deployment document] in host/src/deployment/verify.ts, with one signature. */
export async function signDeployment(deployment: Deployment, keyPair: SigningKeyPair): Promise<GeneralJWS> {
  const payload = Buffer.from(JSON.stringify(deployment)).toString("base64url");
  const { signatures } = await new GeneralSign(hash("sha256", payload, "buffer"))
    .addSignature(keyPair.privateKey)
    .setProtectedHeader({ alg: "EdDSA", kid: keyPair.publicKey.kid })
    .sign();
  return { payload, signatures };
}

/** @throws an error for a document that no key has signed */
export async function verifySignedDeployment(
  { payload, signatures }: GeneralJWS,
  keys: readonly VerificationKey[],
): Promise<Deployment> {
  await generalVerify(
    { payload: hash("sha256", payload, "base64url"), signatures },
    createLocalJWKSet({ keys: [...keys] }),
    { algorithms: ["EdDSA"] },
  );
  return Deployment.parse(JSON.parse(Buffer.from(payload, "base64url").toString("utf8")));
}

/**
 * The next sequence: above the last one, and at least the clock in seconds, so that it also grows
 * for browsers that saw a document from before the data folder was emptied.
 */
function nextSequence(folder: string, vendorId: string, now: Date): number {
  const nowSeconds = Math.floor(now.getTime() / 1000);
  let lastSequence = 0;
  try {
    lastSequence = z.coerce
      .number()
      .int()
      .parse(readFileSync(getSequenceFile(folder, vendorId), "utf8").trim());
  } catch (error) {
    // No document was signed here yet. An unreadable file must not restart the sequence.
    if (getErrorCode(error) !== "ENOENT") throw error;
  }
  return Math.max(lastSequence + 1, nowSeconds);
}

function getSequenceFile(folder: string, vendorId: string): string {
  return join(folder, `${vendorId}.sequence`);
}

export function writeFileAtomically(file: string, text: string): void {
  writeFileSync(`${file}.part`, text);
  renameSync(`${file}.part`, file);
}
