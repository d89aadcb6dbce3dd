/**
 * Releases and deployment documents as a portal's operator keeps them: the registry, the signed
 * documents with the public keys of each vendor's page, the audit log, and the portal's key.
 */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

import { VendorId } from "@relicario/shared/api";
import { Deployment, PortalTrustAnchors, ReleaseRecord, type VerificationKey } from "@relicario/shared/contract";
import { createLocalJWKSet, generalVerify, type GeneralJWSInput } from "jose";
import { z } from "zod";

import {
  createSigningFields,
  writeSignedDeployment,
  rejectConflictingClaims,
  writeFileAtomically,
} from "../deployment/deployment.ts";
import { loadOrCreateKeyPair, type SigningKeyPair } from "../keys/development-keys.ts";
import { UserFacingError } from "../user-facing-error.ts";
import { waitForLock } from "../keys/lock.ts";
import { appendToAuditLog, readAuditLog, type AuditEntry, type AuditEvent } from "./audit-log.ts";

export interface PortalFolders {
  readonly keys: string;
  readonly deployments: string;
  readonly registry: string;
}

export interface PortalStore extends PortalFolders {
  readonly key: SigningKeyPair;
}

/** A vendor's document in force, and the page whose keys it is verified by. */
export interface VendorDeployment {
  readonly deployment: Deployment;
  readonly page: PortalTrustAnchors;
}

/** What a document says of releases; everything else is the vendor's settings. */
type ReleaseChoice = Pick<Deployment, "disabled" | "release_records" | "releases">;

const SignedDocument = z.object({
  payload: z.string(),
  signatures: z.array(z.object({ protected: z.string(), signature: z.string() })).min(1),
});

export async function openStore(folders: PortalFolders): Promise<PortalStore> {
  return { ...folders, key: await loadOrCreateKeyPair(folders.keys, "portal") };
}

/** Runs an act alone: two commands, or a command and a running portal, never sign at once. */
export async function withStoreLock<T>(store: PortalFolders, operation: () => Promise<T>): Promise<T> {
  const releaseLock = await waitForLock(join(store.deployments, ".lock"));
  try {
    return await operation();
  } finally {
    releaseLock();
  }
}

export const getTrustAnchorsFile = ({ deployments: deploymentsFolder }: PortalFolders, vendorId: string): string =>
  join(deploymentsFolder, `${vendorId}.page.json`);

export function writeTrustAnchors(store: PortalFolders, trustAnchors: PortalTrustAnchors): void {
  writeFileAtomically(getTrustAnchorsFile(store, trustAnchors.vendor_id), JSON.stringify(trustAnchors));
}

/** Vendors that have a document here. */
export function listVendorIds({ deployments: deploymentsFolder }: PortalFolders): readonly string[] {
  if (!existsSync(deploymentsFolder)) return [];
  return readdirSync(deploymentsFolder)
    .filter((file) => file.endsWith(".json"))
    .map((file) => file.slice(0, -".json".length))
    .filter((vendorId) => VendorId.safeParse(vendorId).success)
    .sort();
}

/**
 * @throws UserFacingError when the document is not signed by the portal's key, or its signing is
 *   not in the audit log
 */
export async function readVendor(store: PortalStore, vendorId: string): Promise<VendorDeployment> {
  if (!listVendorIds(store).includes(vendorId))
    throw new UserFacingError(
      `There is no vendor ${vendorId} here: ${listVendorIds(store).join(", ") || "none has a deployment document yet"}.`,
    );
  const trustAnchors = PortalTrustAnchors.parse(JSON.parse(readFileSync(getTrustAnchorsFile(store, vendorId), "utf8")));
  const deployment = await verifyDocument(join(store.deployments, `${vendorId}.json`), store.key.publicKey);
  if (deployment === null)
    throw new UserFacingError(
      `The deployment document of ${vendorId} is not signed by the portal's key (${store.key.publicKey.kid}).`,
    );
  if (!readVendorLog(store, vendorId).some(({ sequence }) => sequence === deployment.sequence))
    throw new UserFacingError(
      `The audit log lacks the signing of number ${String(deployment.sequence)} for ${vendorId}: lines at its end are gone, or somebody signed without it. When you know which, move ${getAuditFile(store)} aside: the next start begins another one.`,
    );
  return { deployment, page: trustAnchors };
}

/**
 * Whether there is a document of this vendor that the portal's present key signed, and a log of it.
 */
export async function hasValidDocument(store: PortalStore, vendorId: string): Promise<boolean> {
  return (
    listVendorIds(store).includes(vendorId) &&
    readVendorLog(store, vendorId).length > 0 &&
    (await verifyDocument(join(store.deployments, `${vendorId}.json`), store.key.publicKey)) !== null
  );
}

/** What the audit log says of a vendor. */
export function readVendorLog(store: PortalFolders, vendorId: string): readonly AuditEntry[] {
  return readAuditLog(getAuditFile(store)).filter((entry) => entry.vendor === vendorId);
}

export const getAuditFile = ({ deployments: deploymentsFolder }: PortalFolders): string =>
  join(deploymentsFolder, "audit.jsonl");

/**
 * Signs a document with another choice of releases, or with the same one for a new week. It is
 * noted before it can be seen, so the log never knows less than browsers do.
 */
export async function signAndPublish(
  store: PortalStore,
  document: Deployment,
  auditEvent: Omit<AuditEvent, "sequence" | "vendor">,
  now: Date,
): Promise<Deployment> {
  const vendorId = document.vendor_id;
  const deployment = Deployment.parse({
    ...document,
    release_records: pickReferencedRecords(document),
    ...createSigningFields(store.deployments, vendorId, now),
  });
  rejectConflictingClaims(listManifests(deployment));
  appendToAuditLog(getAuditFile(store), { ...auditEvent, vendor: vendorId, sequence: deployment.sequence }, now);
  await writeSignedDeployment(store.deployments, deployment, store.key);
  return deployment;
}

/** Manifests of every release that a document names, of stable ones and canaries. */
export function listManifests({
  release_records: records,
}: Pick<Deployment, "release_records">): readonly ReleaseRecord["manifest"][] {
  return Object.values(records).flatMap((jws) => {
    const record = ReleaseRecord.safeParse(
      JSON.parse(Buffer.from(jws.split(".")[1] ?? "", "base64url").toString("utf8")),
    );
    return record.success ? [record.data.manifest] : []; // one of a later format is for the host to refuse
  });
}

/** Only what the document names: the record of a release that is not run any more is left out. */
function pickReferencedRecords({ releases, release_records: records }: ReleaseChoice): Deployment["release_records"] {
  const releaseIds = Object.values(releases).flatMap(({ stable, canary }) =>
    canary === undefined ? [stable] : [stable, canary.release],
  );
  return Object.fromEntries(
    releaseIds.flatMap((release) => (records[release] === undefined ? [] : [[release, records[release]]])),
  );
}

async function verifyDocument(file: string, key: VerificationKey): Promise<Deployment | null> {
  try {
    const jws: GeneralJWSInput = SignedDocument.parse(JSON.parse(readFileSync(file, "utf8")));
    const { payload } = await generalVerify(jws, createLocalJWKSet({ keys: [key] }), { algorithms: ["EdDSA"] });
    return Deployment.parse(JSON.parse(new TextDecoder().decode(payload)));
  } catch {
    return null; // whatever the reason, this key did not sign it
  }
}
