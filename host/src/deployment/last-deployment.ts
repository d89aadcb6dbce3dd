import { z } from "zod";

/** What this device stores of a vendor's deployments: the highest sequence number, and the last document that was valid. */
export interface LastDeployment {
  readonly sequence: number;
  /** With its signatures: it is verified again before it is used. */
  readonly document: unknown;
}

const Stored = z.object({ sequence: z.int().min(1), document: z.unknown() });

/** Local storage key; the document is public. */
export const deploymentKey = (vendorId: string) => `deployment.${vendorId}`;

export function readLastDeployment(storage: Pick<Storage, "getItem">, vendorId: string): LastDeployment | null {
  try {
    return Stored.parse(JSON.parse(storage.getItem(deploymentKey(vendorId)) ?? ""));
  } catch {
    return null; // nothing stored, or unreadable: the served document alone is used
  }
}

export function storeLastDeployment(storage: Pick<Storage, "setItem">, vendorId: string, remembered: LastDeployment): void {
  try {
    storage.setItem(deploymentKey(vendorId), JSON.stringify(remembered));
  } catch {
    // Storage is full or forbidden: the portal works, but cannot start while the gateway is down.
  }
}
