/**
 * Makes and signs a vendor's deployment document: which releases its portal runs, and where identity and service are.
 * [docs/decisions/0002](../../../docs/decisions/0002-signed-deployment-documents.md)
 */
import { mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { Deployment, pathsOverlap, type ReleaseRecord } from "@relicario/shared/contract";
import { GeneralSign, type GeneralJWS } from "jose";
import { z } from "zod";

import { codeOf } from "../error-code.ts";
import type { SigningKey } from "../keys/development-keys.ts";
import { rootFolder } from "../paths.ts";
import type { Release } from "../release/release.ts";
import { Complaint } from "../start/complaint.ts";

/** A vendor's own choices: `tooling/vendors/<vendor>.json`. */
const Vendor = z.strictObject(Deployment.pick({ branding: true, features: true, messages: true, drives: true }).shape);

const lifeMs = 7 * 24 * 60 * 60_000;

export interface DeploymentFacts {
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

/** Signs a new document into `<folder>/<vendor>.json`, with a sequence above all before it. Returns what it says. */
export async function publishDeployment(folder: string, facts: DeploymentFacts, key: SigningKey, now: Date = new Date()): Promise<Deployment> {
  mkdirSync(folder, { recursive: true });
  const deployment = makeDeployment(facts, nextSequence(folder, facts.vendorId, now), now);
  // Noted before the document can be seen: a number is never given twice.
  writeWhole(sequenceFile(folder, facts.vendorId), `${String(deployment.sequence)}\n`);
  writeWhole(join(folder, `${facts.vendorId}.json`), JSON.stringify(await signDeployment(deployment, key)));
  return deployment;
}

export function makeDeployment(facts: DeploymentFacts, sequence: number, now: Date): Deployment {
  const vendor = Vendor.parse(JSON.parse(readFileSync(join(rootFolder, `tooling/vendors/${facts.vendorId}.json`), "utf8")));
  refuseDoubleClaims(facts.releases.map(({ record }) => record.manifest));
  const releases = Object.fromEntries(facts.releases.map(({ record }) => [record.manifest.name, { stable: record.release }]));
  return Deployment.parse({
    v: 1,
    vendor_id: facts.vendorId,
    origin: facts.origin,
    sequence,
    issued_at: now.toISOString(),
    not_after: new Date(now.getTime() + lifeMs).toISOString(),
    environment: facts.environment,
    app_version: facts.appVersion,
    ...vendor,
    ...(facts.drives !== undefined && { drives: facts.drives }),
    identity: facts.identity,
    api: facts.api,
    releases,
    release_records: Object.fromEntries(facts.releases.map(({ record, jws }) => [record.release, jws])),
  });
}

/** Two remotes that claim one path, or one namespace of texts, would each be half there: such a document is not signed. */
function refuseDoubleClaims(manifests: readonly ReleaseRecord["manifest"][]): void {
  for (const [at, manifest] of manifests.entries()) {
    for (const before of manifests.slice(0, at)) {
      for (const { path } of manifest.routes) {
        const claimed = before.routes.find((route) => pathsOverlap(route.path, path));
        if (claimed !== undefined) throw new Complaint(`${before.name} and ${manifest.name} both claim a path: ${claimed.path} and ${path}.`);
      }
      const namespace = manifest.namespaces.find((each) => before.namespaces.includes(each));
      if (namespace !== undefined) throw new Complaint(`${before.name} and ${manifest.name} both own the texts ${namespace}.`);
    }
  }
}

/** JWS General JSON with one signature (EdDSA). */
export function signDeployment(deployment: Deployment, key: SigningKey): Promise<GeneralJWS> {
  return new GeneralSign(new TextEncoder().encode(JSON.stringify(deployment)))
    .addSignature(key.privateKey)
    .setProtectedHeader({ alg: "EdDSA", kid: key.publicKey.kid })
    .sign();
}

/**
 * Above the last one, and never below the clock in seconds: so that it also grows for browsers that remember a document
 * from before somebody emptied the data folder.
 */
export function nextSequence(folder: string, vendorId: string, now: Date): number {
  const clock = Math.floor(now.getTime() / 1000);
  let last = 0;
  try {
    last = z.coerce.number().int().parse(readFileSync(sequenceFile(folder, vendorId), "utf8").trim());
  } catch (error) {
    // None was signed here yet. A file that is there and unreadable is no reason to begin anew.
    if (codeOf(error) !== "ENOENT") throw error;
  }
  return Math.max(last + 1, clock);
}

function sequenceFile(folder: string, vendorId: string): string {
  return join(folder, `${vendorId}.sequence`);
}

function writeWhole(file: string, text: string): void {
  writeFileSync(`${file}.part`, text);
  renameSync(`${file}.part`, file);
}
