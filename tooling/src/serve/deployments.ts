import { hash } from "node:crypto";
import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { brotliCompressSync, gzipSync } from "node:zlib";

import { Deployment, ReleaseRecord, vaultRemote, type Drives, type RemoteName } from "@relicario/shared/contract";
import { VendorId } from "@relicario/shared/api";
import { z } from "zod";

/**
 * Reads signed documents without verifying them: hosts do. The gateway uses only their locales,
 * drives and the files of the vault.
 */
export interface DeploymentReader {
  readonly getDocument: (vendorId: string) => SignedDocument | null;
  readonly getDrives: (vendorId: string) => Drives;
  /** Null when no remote has the namespace. */
  readonly findNamespaceOwner: (
    vendorId: string,
    namespace: string,
  ) => { readonly remote: RemoteName; readonly release: string } | null;
  /**
   * Files of the remote that brings the vault: by release, the integrity of each path. Open pages
   * still need a release of an earlier document, as long as it is not disabled.
   */
  readonly getVaultFiles: (vendorId: string) => VaultFiles;
}

type VaultFiles = ReadonlyMap<string, ReadonlyMap<string, string>>;

/** A document in each content encoding, computed once. */
interface SignedDocument {
  /** RFC 9110 8.8.3. */
  readonly etag: string;
  readonly uncompressed: Buffer;
  readonly br: Buffer;
  readonly gzip: Buffer;
}

interface CachedDeployment {
  readonly modifiedMs: number;
  readonly document: SignedDocument;
  readonly drives: Drives;
  readonly owners: ReadonlyMap<string, { readonly remote: RemoteName; readonly release: string }>;
  readonly vaultFiles: VaultFiles;
}

const SignedPayload = z.object({ payload: z.string() });

export function createDeploymentReader(folder: string): DeploymentReader {
  const cache = new Map<string, CachedDeployment>();

  const readDeployment = (vendorId: string): CachedDeployment | null => {
    if (!VendorId.safeParse(vendorId).success) return null;
    const file = join(folder, `${vendorId}.json`);
    const modifiedMs = statSync(file, { throwIfNoEntry: false })?.mtimeMs;
    if (modifiedMs === undefined) return null;
    const cached = cache.get(vendorId);
    if (cached?.modifiedMs === modifiedMs) return cached;
    const text = readFileSync(file, "utf8");
    const deployment = Deployment.parse(decodeBase64urlJson(SignedPayload.parse(JSON.parse(text)).payload));
    const entry = {
      modifiedMs,
      document: encodeDocument(Buffer.from(text)),
      drives: deployment.drives ?? {},
      owners: findNamespaceOwners(deployment),
      vaultFiles: findVaultFiles(deployment, cached?.vaultFiles ?? new Map()),
    };
    cache.set(vendorId, entry);
    return entry;
  };

  return {
    getDocument: (vendorId) => readDeployment(vendorId)?.document ?? null,
    getDrives: (vendorId) => readDeployment(vendorId)?.drives ?? {},
    findNamespaceOwner: (vendorId, namespace) => readDeployment(vendorId)?.owners.get(namespace) ?? null,
    getVaultFiles: (vendorId) => readDeployment(vendorId)?.vaultFiles ?? new Map(),
  };
}

function encodeDocument(uncompressed: Buffer): SignedDocument {
  return {
    etag: `"${hash("sha256", uncompressed, "base64url")}"`,
    uncompressed,
    br: brotliCompressSync(uncompressed),
    gzip: gzipSync(uncompressed),
  };
}

function findNamespaceOwners(deployment: Deployment): CachedDeployment["owners"] {
  const owners = new Map<string, { remote: RemoteName; release: string }>();
  for (const { stable } of Object.values(deployment.releases)) {
    const record = readRecord(deployment, stable);
    if (record === null) continue;
    const { release, manifest } = record;
    for (const namespace of manifest.namespaces) owners.set(namespace, { remote: manifest.name, release });
  }
  return owners;
}

function findVaultFiles(deployment: Deployment, previous: VaultFiles): VaultFiles {
  const { stable, canary } = deployment.releases[vaultRemote] ?? {};
  const records = [stable, canary?.release].flatMap((release) => readRecord(deployment, release) ?? []);
  return new Map(
    [...previous, ...records.map(({ release, files }) => [release, new Map(Object.entries(files))] as const)].filter(
      ([release]) => deployment.disabled?.includes(release) !== true,
    ),
  );
}

/** Null for a record of a later format, which hosts refuse; other remotes keep working. */
function readRecord(deployment: Deployment, release: string | undefined): ReleaseRecord | null {
  const payload = deployment.release_records[release ?? ""]?.split(".")[1];
  return payload === undefined ? null : (ReleaseRecord.safeParse(decodeBase64urlJson(payload)).data ?? null);
}

function decodeBase64urlJson(text: string): unknown {
  return JSON.parse(Buffer.from(text, "base64url").toString("utf8"));
}
