import {
  maxFormerVersions,
  maxSealedBytes,
  defaultPartBytes,
  defaultQuotaBytes,
  shareLifetimeDays,
} from "@relicario/shared/api";

import type { ConfiguredVendor } from "../env/env.ts";

export interface VendorSettings {
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
  find(id: string): VendorSettings | null;
  /** The vendor of a session, which is known: its token says so. */
  require(id: string): VendorSettings;
}

export function createVendors(configuredVendors: readonly ConfiguredVendor[]): Vendors {
  const vendorsById = new Map(
    configuredVendors.map((vendor): [string, VendorSettings] => [
      vendor.vendor_id,
      {
        id: vendor.vendor_id,
        name: vendor.name,
        enabled: vendor.enabled,
        quotaBytes: vendor.quota_bytes ?? defaultQuotaBytes,
        contentBytes: vendor.content_bytes ?? maxSealedBytes,
        partBytes: vendor.part_bytes ?? defaultPartBytes,
        formerVersions: vendor.former_versions ?? maxFormerVersions,
        shareDays: vendor.share_days ?? shareLifetimeDays.maximum,
        origin: vendor.origin ?? null,
      },
    ]),
  );
  return {
    ids: [...vendorsById.keys()],
    find: (id) => vendorsById.get(id) ?? null,
    require(id) {
      const vendor = vendorsById.get(id);
      if (vendor === undefined) throw new Error("a session of an unknown vendor");
      return vendor;
    },
  };
}
