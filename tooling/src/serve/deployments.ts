import { createHash } from "node:crypto";
import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { brotliCompressSync, gzipSync } from "node:zlib";

import { Deployment, ReleaseRecord, type Drives, type RemoteName } from "@relicario/shared/contract";
import { VendorId } from "@relicario/shared/api";
import { z } from "zod";

/**
 * What the gateway knows of the signed documents. It passes them on and believes what they say of
 * locales and drives; hosts verify.
 */
export interface DeploymentReader {
  /** The signed document of a vendor, as it travels; null when there is none. */
  readonly getDocument: (vendorId: string) => SignedDocument | null;
  /** Cloud drives that the vendor is registered with. */
  readonly getDrives: (vendorId: string) => Drives;
  /**
   * The promoted release that carries a namespace of texts; null when it is the host's, or
   * nobody's.
   */
  readonly findNamespaceOwner: (
    vendorId: string,
    namespace: string,
  ) => { readonly remote: RemoteName; readonly release: string } | null;
}

/** A document in the forms that browsers take, each made once. */
interface SignedDocument {
  /** Of the text, in quotes (RFC 9110 8.8.3). */
  readonly etag: string;
  readonly plain: Buffer;
  readonly br: Buffer;
  readonly gzip: Buffer;
}

interface CachedDeployment {
  readonly modifiedMs: number;
  readonly document: SignedDocument;
  readonly drives: Drives;
  readonly owners: ReadonlyMap<string, { readonly remote: RemoteName; readonly release: string }>;
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
    };
    cache.set(vendorId, entry);
    return entry;
  };

  return {
    getDocument: (vendorId) => readDeployment(vendorId)?.document ?? null,
    getDrives: (vendorId) => readDeployment(vendorId)?.drives ?? {},
    findNamespaceOwner: (vendorId, namespace) => readDeployment(vendorId)?.owners.get(namespace) ?? null,
  };
}

function encodeDocument(plain: Buffer): SignedDocument {
  return {
    etag: `"${createHash("sha256").update(plain).digest("base64url")}"`,
    plain,
    br: brotliCompressSync(plain),
    gzip: gzipSync(plain),
  };
}

function findNamespaceOwners(deployment: Deployment): CachedDeployment["owners"] {
  const owners = new Map<string, { remote: RemoteName; release: string }>();
  for (const { stable } of Object.values(deployment.releases)) {
    const payload = deployment.release_records[stable]?.split(".")[1];
    if (payload === undefined) continue;
    // One that a later version of this format describes is for the host to refuse: the other
    // remotes go on.
    const record = ReleaseRecord.safeParse(decodeBase64urlJson(payload));
    if (!record.success) continue;
    const { release, manifest } = record.data;
    for (const namespace of manifest.namespaces) owners.set(namespace, { remote: manifest.name, release });
  }
  return owners;
}

function decodeBase64urlJson(text: string): unknown {
  return JSON.parse(Buffer.from(text, "base64url").toString("utf8"));
}
