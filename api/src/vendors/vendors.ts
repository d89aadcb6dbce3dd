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
  /** Limit for the sealed content of one version, in bytes. */
  readonly maxContentBytes: number;
  /** Bytes of a part, unless the client chooses another size. */
  readonly defaultPartBytes: number;
  /** Kept per secret in addition to the current version. */
  readonly maxFormerVersions: number;
  /** Longest lifetime of a share. */
  readonly maxShareDays: number;
  /** Origin of the vendor's own portal; null without one. */
  readonly origin: string | null;
}

/** Vendors are configuration of a deployment, not rows. */
export interface Vendors {
  readonly ids: readonly string[];
  find(id: string): VendorSettings | null;
  /** For the vendor of a verified session. */
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
        maxContentBytes: vendor.content_bytes ?? maxSealedBytes,
        defaultPartBytes: vendor.part_bytes ?? defaultPartBytes,
        maxFormerVersions: vendor.former_versions ?? maxFormerVersions,
        maxShareDays: vendor.share_days ?? shareLifetimeDays.maximum,
        origin: vendor.origin ?? null,
      },
    ]),
  );
  return {
    ids: [...vendorsById.keys()],
    find: (id) => vendorsById.get(id) ?? null,
    require(id) {
      const vendor = vendorsById.get(id);
      if (vendor === undefined) throw new Error("the session's vendor is unknown");
      return vendor;
    },
  };
}
