import { quotaBytes } from "@relicario/shared/api";

import type { ConfiguredVendor } from "../env.ts";

export interface KnownVendor {
  readonly id: string;
  readonly name: string;
  readonly enabled: boolean;
  readonly quotaBytes: number;
}

/** Vendors are configuration of a deployment, not rows. */
export interface Vendors {
  find(id: string): KnownVendor | null;
}

export function createVendors(configured: readonly ConfiguredVendor[]): Vendors {
  const known = new Map(
    configured.map(({ vendor_id, name, enabled, quota_bytes }): [string, KnownVendor] => [
      vendor_id,
      { id: vendor_id, name, enabled, quotaBytes: quota_bytes ?? quotaBytes },
    ]),
  );
  return { find: (id) => known.get(id) ?? null };
}
