import { z } from "zod";

/** What this device remembers of a vendor's deployments: the highest sequence, and the last document that held. */
export interface LastDeployment {
  readonly sequence: number;
  /** As it came, still signed: it is checked again when it is used. */
  readonly document: unknown;
}

const Stored = z.object({ sequence: z.int().min(1), document: z.unknown() });

/** Local storage key; the document is public. */
export const deploymentKey = (vendorId: string) => `deployment.${vendorId}`;

export function readLastDeployment(storage: Pick<Storage, "getItem">, vendorId: string): LastDeployment | null {
  try {
    return Stored.parse(JSON.parse(storage.getItem(deploymentKey(vendorId)) ?? ""));
  } catch {
    return null; // nothing was kept, or it cannot be read: then the served document speaks alone
  }
}

export function storeLastDeployment(storage: Pick<Storage, "setItem">, vendorId: string, remembered: LastDeployment): void {
  try {
    storage.setItem(deploymentKey(vendorId), JSON.stringify(remembered));
  } catch {
    // Storage is full or forbidden: this session works all the same, only without help when the gateway is away.
  }
}
