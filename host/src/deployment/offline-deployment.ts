/**
 * Local storage key of a vendor's last document that was valid, with its signatures: it is verified
 * again before it is used.
 */
export const buildDeploymentKey = (vendorId: string) => `deployment.${vendorId}`;

export function readOfflineDeployment(storage: Pick<Storage, "getItem">, vendorId: string): unknown {
  try {
    return JSON.parse(storage.getItem(buildDeploymentKey(vendorId)) ?? "");
  } catch {
    return null; // nothing stored, or unreadable: the served document alone is used
  }
}

export function storeOfflineDeployment(storage: Pick<Storage, "setItem">, vendorId: string, document: unknown): void {
  try {
    storage.setItem(buildDeploymentKey(vendorId), JSON.stringify(document));
  } catch {
    // Storage is full or forbidden: the portal works, but cannot start while the gateway is down.
  }
}
