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
export interface Deployments {
  /** The signed document of a vendor, as it travels; null when there is none. */
  readonly document: (vendor: string) => SignedDocument | null;
  /** Cloud drives that the vendor is registered with. */
  readonly drives: (vendor: string) => Drives;
  /**
   * The promoted release that carries a namespace of texts; null when it is the host's, or
   * nobody's.
   */
  readonly ownerOfNamespace: (
    vendor: string,
    namespace: string,
  ) => { readonly remote: RemoteName; readonly release: string } | null;
}

/** A document in the forms that browsers take, each made once. */
export interface SignedDocument {
  /** Of the text, in quotes (RFC 9110 8.8.3). */
  readonly tag: string;
  readonly plain: Buffer;
  readonly br: Buffer;
  readonly gzip: Buffer;
}

interface Known {
  readonly changed: number;
  readonly document: SignedDocument;
  readonly drives: Drives;
  readonly owners: ReadonlyMap<string, { readonly remote: RemoteName; readonly release: string }>;
}

const Signed = z.object({ payload: z.string() });

export function openDeployments(folder: string): Deployments {
  const known = new Map<string, Known>();

  const read = (vendor: string): Known | null => {
    if (!VendorId.safeParse(vendor).success) return null;
    const file = join(folder, `${vendor}.json`);
    const changed = statSync(file, { throwIfNoEntry: false })?.mtimeMs;
    if (changed === undefined) return null;
    const former = known.get(vendor);
    if (former?.changed === changed) return former;
    const text = readFileSync(file, "utf8");
    const deployment = Deployment.parse(fromBase64url(Signed.parse(JSON.parse(text)).payload));
    const now = {
      changed,
      document: packed(Buffer.from(text)),
      drives: deployment.drives ?? {},
      owners: ownersOf(deployment),
    };
    known.set(vendor, now);
    return now;
  };

  return {
    document: (vendor) => read(vendor)?.document ?? null,
    drives: (vendor) => read(vendor)?.drives ?? {},
    ownerOfNamespace: (vendor, namespace) => read(vendor)?.owners.get(namespace) ?? null,
  };
}

function packed(plain: Buffer): SignedDocument {
  return {
    tag: `"${createHash("sha256").update(plain).digest("base64url")}"`,
    plain,
    br: brotliCompressSync(plain),
    gzip: gzipSync(plain),
  };
}

function ownersOf(deployment: Deployment): Known["owners"] {
  const owners = new Map<string, { remote: RemoteName; release: string }>();
  for (const { stable } of Object.values(deployment.releases)) {
    const payload = deployment.release_records[stable]?.split(".")[1];
    if (payload === undefined) continue;
    // One that a later version of this format describes is for the host to refuse: the other
    // remotes go on.
    const record = ReleaseRecord.safeParse(fromBase64url(payload));
    if (!record.success) continue;
    const { release, manifest } = record.data;
    for (const namespace of manifest.namespaces) owners.set(namespace, { remote: manifest.name, release });
  }
  return owners;
}

function fromBase64url(text: string): unknown {
  return JSON.parse(Buffer.from(text, "base64url").toString("utf8"));
}
