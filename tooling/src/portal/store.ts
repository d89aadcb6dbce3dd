/**
 * What a portal's operator stores: registry, signed documents, trust anchors of pages, audit log
 * and portal key.
 */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

import { VendorId } from "@relicario/shared/api";
import { Deployment, PortalTrustAnchors, ReleaseRecord, type VerificationKey } from "@relicario/shared/contract";
import { z } from "zod";

import {
  createSigningFields,
  writeSignedDeployment,
  rejectConflictingClaims,
  verifySignedDeployment,
  writeFileAtomically,
} from "../deployment/deployment.ts";
import { loadOrCreateKeyPair, type SigningKeyPair } from "../keys/signing-keys.ts";
import { UserFacingError } from "../user-facing-error.ts";
import { waitForLock } from "../keys/lock.ts";
import { appendToAuditLog, readAuditLog, type AuditEntry, type AuditEvent } from "./audit-log.ts";

export interface PortalFolders {
  readonly keysFolder: string;
  readonly deploymentsFolder: string;
  readonly registryFolder: string;
}

export interface PortalStore extends PortalFolders {
  readonly portalKeyPair: SigningKeyPair;
}

export interface VendorDeployment {
  readonly deployment: Deployment;
  readonly trustAnchors: PortalTrustAnchors;
}

/** Fields of a document about releases; the others are the vendor's settings. */
type ReleaseFields = Pick<Deployment, "disabled" | "release_records" | "releases">;

const SignedDocument = z.object({
  payload: z.string(),
  signatures: z.array(z.object({ protected: z.string(), signature: z.string() })).min(1),
});

export async function openStore(folders: PortalFolders): Promise<PortalStore> {
  return { ...folders, portalKeyPair: await loadOrCreateKeyPair(folders.keysFolder, "portal") };
}

/** Runs an operation under the store's lock: commands and a running portal never sign at once. */
export async function withStoreLock<T>(store: PortalFolders, operation: () => Promise<T>): Promise<T> {
  const releaseLock = await waitForLock(join(store.deploymentsFolder, ".lock"));
  try {
    return await operation();
  } finally {
    releaseLock();
  }
}

export const getTrustAnchorsFile = ({ deploymentsFolder }: PortalFolders, vendorId: string): string =>
  join(deploymentsFolder, `${vendorId}.page.json`);

export function writeTrustAnchors(store: PortalFolders, trustAnchors: PortalTrustAnchors): void {
  writeFileAtomically(getTrustAnchorsFile(store, trustAnchors.vendor_id), JSON.stringify(trustAnchors));
}

export function listVendorIds({ deploymentsFolder }: PortalFolders): readonly string[] {
  if (!existsSync(deploymentsFolder)) return [];
  return readdirSync(deploymentsFolder)
    .filter((file) => file.endsWith(".json"))
    .map((file) => file.slice(0, -".json".length))
    .filter((vendorId) => VendorId.safeParse(vendorId).success)
    .sort();
}

/**
 * @throws UserFacingError when the portal's key did not sign the document, or the audit log lacks
 * its signing
 */
export async function readVendor(store: PortalStore, vendorId: string): Promise<VendorDeployment> {
  if (!listVendorIds(store).includes(vendorId))
    throw new UserFacingError(
      `There is no vendor ${vendorId} here: ${listVendorIds(store).join(", ") || "none has a deployment document yet"}.`,
    );
  const trustAnchors = PortalTrustAnchors.parse(JSON.parse(readFileSync(getTrustAnchorsFile(store, vendorId), "utf8")));
  const deployment = await verifyDocument(
    join(store.deploymentsFolder, `${vendorId}.json`),
    store.portalKeyPair.publicKey,
  );
  if (deployment === null)
    throw new UserFacingError(
      `The deployment document of ${vendorId} is not signed by the portal's key (${store.portalKeyPair.publicKey.kid}).`,
    );
  if (!readVendorLog(store, vendorId).some(({ sequence }) => sequence === deployment.sequence))
    throw new UserFacingError(
      `The audit log lacks the signing of number ${String(deployment.sequence)} for ${vendorId}: lines at its end were removed, or a document was signed without it. Find out which, then move ${getAuditFile(store)} aside: the next start begins a new log.`,
    );
  return { deployment, trustAnchors };
}

/**
 * Whether the current portal key signed the document, and the audit log has entries of the vendor.
 */
export async function hasValidDocument(store: PortalStore, vendorId: string): Promise<boolean> {
  return (
    listVendorIds(store).includes(vendorId) &&
    readVendorLog(store, vendorId).length > 0 &&
    (await verifyDocument(join(store.deploymentsFolder, `${vendorId}.json`), store.portalKeyPair.publicKey)) !== null
  );
}

export function readVendorLog(store: PortalFolders, vendorId: string): readonly AuditEntry[] {
  return readAuditLog(getAuditFile(store)).filter((entry) => entry.vendor === vendorId);
}

export const getAuditFile = ({ deploymentsFolder }: PortalFolders): string => join(deploymentsFolder, "audit.jsonl");

/** Logs the document before it publishes it, so that the log has all that browsers see. */
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
    ...createSigningFields(store.deploymentsFolder, vendorId, now),
  });
  rejectConflictingClaims(listManifests(deployment));
  appendToAuditLog(getAuditFile(store), { ...auditEvent, vendor: vendorId, sequence: deployment.sequence }, now);
  await writeSignedDeployment(store.deploymentsFolder, deployment, store.portalKeyPair);
  return deployment;
}

/** Lists manifests of stable releases and canaries. */
export function listManifests({
  release_records: records,
}: Pick<Deployment, "release_records">): readonly ReleaseRecord["manifest"][] {
  return Object.values(records).flatMap((jws) => {
    const record = ReleaseRecord.safeParse(
      JSON.parse(Buffer.from(jws.split(".")[1] ?? "", "base64url").toString("utf8")),
    );
    return record.success ? [record.data.manifest] : []; // hosts refuse a record of a later format
  });
}

function pickReferencedRecords({ releases, release_records: records }: ReleaseFields): Deployment["release_records"] {
  const releaseIds = Object.values(releases).flatMap(({ stable, canary }) =>
    canary === undefined ? [stable] : [stable, canary.release],
  );
  return Object.fromEntries(
    releaseIds.flatMap((release) => (records[release] === undefined ? [] : [[release, records[release]]])),
  );
}

async function verifyDocument(file: string, key: VerificationKey): Promise<Deployment | null> {
  try {
    return await verifySignedDeployment(SignedDocument.parse(JSON.parse(readFileSync(file, "utf8"))), [key]);
  } catch {
    return null; // invalid, whatever the reason
  }
}
