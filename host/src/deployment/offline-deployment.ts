/**
 * Local storage key of the vendor's last valid document with its signatures. The document is
 * verified again before use.
 */
export const buildDeploymentKey = (vendorId: string) => `deployment.${vendorId}`;

export function readOfflineDeployment(storage: Pick<Storage, "getItem">, vendorId: string): unknown {
  try {
    return JSON.parse(storage.getItem(buildDeploymentKey(vendorId)) ?? "");
  } catch {
    return null; // missing or unreadable: the page can only use the served document
  }
}

export function storeOfflineDeployment(storage: Pick<Storage, "setItem">, vendorId: string, document: unknown): void {
  try {
    storage.setItem(buildDeploymentKey(vendorId), JSON.stringify(document));
  } catch {
    // Storage is full or forbidden: the portal works, but cannot start while the gateway is down.
  }
}
