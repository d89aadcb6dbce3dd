import { maxFormerVersions, maxSealedBytes, partBytes, quotaBytes, shareDays } from "@relicario/shared/api";

import type { ConfiguredVendor } from "../env.ts";

export interface KnownVendor {
  readonly id: string;
  readonly name: string;
  readonly enabled: boolean;
  readonly quotaBytes: number;
  /** Of the sealed content of one version. */
  readonly contentBytes: number;
  /** Of a part where the client wishes nothing else. */
  readonly partBytes: number;
  /** How many of a secret are kept beside the present one. */
  readonly formerVersions: number;
  /** How long a share may last. */
  readonly shareDays: number;
  /** Of its own portal. */
  readonly origin: string | null;
}

/** Vendors are configuration of a deployment, not rows. */
export interface Vendors {
  readonly ids: readonly string[];
  find(id: string): KnownVendor | null;
  /** The vendor of a session, which is known: its token says so. */
  require(id: string): KnownVendor;
}

export function createVendors(configured: readonly ConfiguredVendor[]): Vendors {
  const known = new Map(
    configured.map((vendor): [string, KnownVendor] => [
      vendor.vendor_id,
      {
        id: vendor.vendor_id,
        name: vendor.name,
        enabled: vendor.enabled,
        quotaBytes: vendor.quota_bytes ?? quotaBytes,
        contentBytes: vendor.content_bytes ?? maxSealedBytes,
        partBytes: vendor.part_bytes ?? partBytes,
        formerVersions: vendor.former_versions ?? maxFormerVersions,
        shareDays: vendor.share_days ?? shareDays.most,
        origin: vendor.origin ?? null,
      },
    ]),
  );
  return {
    ids: [...known.keys()],
    find: (id) => known.get(id) ?? null,
    require(id) {
      const vendor = known.get(id);
      if (vendor === undefined) throw new Error("a session of an unknown vendor");
      return vendor;
    },
  };
}
