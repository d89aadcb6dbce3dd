/**
 * Makes and signs a vendor's deployment document: which releases its portal runs, and where
 * identity and service are.
 * [docs/decisions/0002](../../../docs/decisions/0002-signed-deployment-documents.md)
 */
import { mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { Deployment, type ReleaseRecord } from "@relicario/shared/contract";
import { GeneralSign, type GeneralJWS } from "jose";
import { z } from "zod";

import { getErrorCode } from "../error-code.ts";
import type { SigningKeyPair } from "../keys/development-keys.ts";
import { rootFolder } from "../paths.ts";
import { findConflicts } from "../release/compatibility.ts";
import type { Release } from "../release/release.ts";
import { UserFacingError } from "../user-facing-error.ts";

/** A vendor's own choices: `tooling/vendors/<vendor>.json`. */
const VendorSettings = z.strictObject(
  Deployment.pick({ branding: true, features: true, messages: true, drives: true, payments: true }).shape,
);

const validityMs = 7 * 24 * 60 * 60_000;

export interface DeploymentInput {
  readonly vendorId: string;
  readonly origin: string;
  readonly environment: string;
  readonly appVersion: string;
  readonly identity: Deployment["identity"];
  readonly api: Deployment["api"];
  /** In place of those of the vendor's file. */
  readonly drives?: NonNullable<z.input<typeof Deployment>["drives"]>;
  readonly releases: readonly Pick<Release, "record" | "jws">[];
}

/**
 * Signs a new document into `<folder>/<vendor>.json`, with a sequence above all before it. Returns
 * what it says.
 */
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
 * Signs a document into `<folder>/<vendor>.json`. Its sequence is noted before it can be seen: a
 * number is never given twice.
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

/** What changes with every signing, of a document that is signed now. */
export function createSigningFields(
  folder: string,
  vendorId: string,
  now: Date,
): Pick<Deployment, "sequence" | "issued_at" | "not_after"> {
  return { sequence: nextSequence(folder, vendorId, now), ...createValidityFields(now) };
}

/** A week from now. */
export function createValidityFields(now: Date): Pick<Deployment, "issued_at" | "not_after"> {
  return { issued_at: now.toISOString(), not_after: new Date(now.getTime() + validityMs).toISOString() };
}

export function makeDeployment(input: DeploymentInput, sequence: number, now: Date): Deployment {
  const vendor = VendorSettings.parse(
    JSON.parse(readFileSync(join(rootFolder, `tooling/vendors/${input.vendorId}.json`), "utf8")),
  );
  rejectConflictingClaims(input.releases.map(({ record }) => record.manifest));
  const releases = Object.fromEntries(
    input.releases.map(({ record }) => [record.manifest.name, { stable: record.release }]),
  );
  return Deployment.parse({
    v: 1,
    vendor_id: input.vendorId,
    origin: input.origin,
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
}

/** Such a document is not signed. */
export function rejectConflictingClaims(manifests: readonly ReleaseRecord["manifest"][]): void {
  for (const [index, manifest] of manifests.entries()) {
    const [conflict] = findConflicts(
      manifest,
      manifests.slice(0, index).filter(({ name }) => name !== manifest.name),
    );
    if (conflict !== undefined) throw new UserFacingError(`${conflict}.`);
  }
}

/** JWS General JSON with one signature (EdDSA). */
export function signDeployment(deployment: Deployment, keyPair: SigningKeyPair): Promise<GeneralJWS> {
  return new GeneralSign(new TextEncoder().encode(JSON.stringify(deployment)))
    .addSignature(keyPair.privateKey)
    .setProtectedHeader({ alg: "EdDSA", kid: keyPair.publicKey.kid })
    .sign();
}

/**
 * Above the last one, and never below the clock in seconds: so that it also grows for browsers that
 * remember a document from before somebody emptied the data folder.
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
    // None was signed here yet. A file that is there and unreadable is no reason to begin anew.
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
