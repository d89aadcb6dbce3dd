import { Vendor, VendorId } from "@relicario/shared/api";
import type { Deployment, HttpClient } from "@relicario/shared/contract";
import { isPortalError } from "@relicario/shared/errors";
import { createStore } from "zustand/vanilla";

import { vendorIdKey } from "../session/fragment.ts";

export interface VendorAppearance {
  /** `vendor`: logo at the top right, dark background, and the screen nested in it. */
  readonly layout: Deployment["branding"]["layout"];
  readonly name: string;
}

/**
 * The vendor whose appearance the page has. The appearance affects nothing else: the deployment
 * decides which code runs.
 */
export interface VendorAppearanceStore {
  readonly getState: () => VendorAppearance;
  readonly subscribe: (listener: () => void) => () => void;
  /** Reads session storage again, after a vendor was chosen or the choice removed. */
  readonly refresh: () => void;
}

export interface VendorAppearanceDeps {
  readonly deployment: Deployment;
  readonly storage: Pick<Storage, "getItem">;
  /** HTTP client without a token. */
  readonly publicHttp: HttpClient;
  readonly onUnknownVendor: () => void;
}

/** Applies the vendor id in session storage when the page loads (specification, section 2). */
export function createVendorAppearanceStore({
  deployment,
  storage,
  publicHttp,
  onUnknownVendor,
}: VendorAppearanceDeps): VendorAppearanceStore {
  const defaultAppearance: VendorAppearance = Object.freeze({
    layout: deployment.branding.layout,
    name: deployment.branding.product_name,
  });
  const store = createStore<VendorAppearance>(() => defaultAppearance);
  let appliedVendorId: string | null = null;

  const apply = (appearance: VendorAppearance) => {
    store.setState(Object.freeze(appearance), true);
  };

  const refresh = () => {
    const vendorId = readVendorIdOverride(storage, deployment.vendor_id);
    if (vendorId === appliedVendorId) return;
    appliedVendorId = vendorId;
    if (vendorId === null) {
      apply(defaultAppearance);
      return;
    }
    // The layout is applied before the name arrives, so that the page does not move later.
    apply({ layout: "vendor", name: "" });
    publicHttp.request("GET", `/vendors/${vendorId}`, Vendor).then(
      ({ name }) => {
        if (appliedVendorId === vendorId) apply({ layout: "vendor", name });
      },
      (error: unknown) => {
        if (appliedVendorId !== vendorId || !isPortalError(error, "not_found", "vendor_unknown", "validation_error"))
          return;
        apply(defaultAppearance);
        onUnknownVendor();
      },
    );
  };

  return Object.freeze<VendorAppearanceStore>({
    getState: store.getState,
    subscribe: store.subscribe,
    refresh,
  });
}

/**
 * Id of the chosen vendor. Null when none is chosen, it is the portal's own, or the value is not a
 * vendor id.
 */
function readVendorIdOverride(storage: Pick<Storage, "getItem">, defaultVendorId: string): string | null {
  try {
    const parsed = VendorId.safeParse(storage.getItem(vendorIdKey));
    return parsed.success && parsed.data !== defaultVendorId ? parsed.data : null;
  } catch {
    return null; // storage is forbidden: no vendor can have been named
  }
}
