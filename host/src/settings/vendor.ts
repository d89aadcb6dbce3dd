import { Vendor, VendorId } from "@relicario/shared/api";
import type { Deployment, HttpClient } from "@relicario/shared/contract";
import { isPortalError } from "@relicario/shared/errors";
import { createStore } from "zustand/vanilla";

import { vendorIdKey } from "../session/fragment.ts";

/** How the page looks on behalf of a vendor. */
export interface VendorAppearance {
  /** `vendor`: logo top right, dark background, the screen nested in it. */
  readonly layout: Deployment["branding"]["layout"];
  /** Beside the logo. */
  readonly name: string;
}

/**
 * The vendor whose look the page has. It changes nothing else: which code runs is decided by the
 * deployment.
 */
export interface VendorAppearanceStore {
  readonly getState: () => VendorAppearance;
  readonly subscribe: (listener: () => void) => () => void;
  /** Reads session storage again, after a vendor was named or ignored. */
  readonly refresh: () => void;
}

export interface VendorAppearanceDeps {
  readonly deployment: Deployment;
  readonly storage: Pick<Storage, "getItem">;
  /** Calls without a token. */
  readonly http: HttpClient;
  /** The service does not know this vendor. */
  readonly onUnknown: () => void;
}

/**
 * On load the vendor identifier is read from session storage and applied (specification, section
 * 2).
 */
export function createVendorAppearanceStore({
  deployment,
  storage,
  http,
  onUnknown,
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
    // The layout is applied before the name is known, so that nothing moves when the name arrives.
    apply({ layout: "vendor", name: "" });
    http.request("GET", `/vendors/${vendorId}`, Vendor).then(
      ({ name }) => {
        if (appliedVendorId === vendorId) apply({ layout: "vendor", name });
      },
      (error: unknown) => {
        if (appliedVendorId !== vendorId || !isPortalError(error, "not_found", "vendor_unknown", "validation_error"))
          return;
        apply(defaultAppearance);
        onUnknown();
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
 * Another vendor than the portal's own; null when none is named, or what is named cannot be one.
 */
function readVendorIdOverride(storage: Pick<Storage, "getItem">, defaultVendorId: string): string | null {
  try {
    const parsed = VendorId.safeParse(storage.getItem(vendorIdKey));
    return parsed.success && parsed.data !== defaultVendorId ? parsed.data : null;
  } catch {
    return null; // storage is forbidden: no vendor can have been named
  }
}
