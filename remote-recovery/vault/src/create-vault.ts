import type { PortalForServices, Vault } from "@relicario/shared/contract";

import { readDevice } from "./device/device.ts";
import { pageSurroundings } from "./device/idle.ts";
import { browserWorkers } from "./worker/start-workers.ts";
import { createVaultClient } from "./worker/vault-client.ts";

/** The vault of one sign-in, but for what it draws. */
export async function createVault(portal: PortalForServices): Promise<Omit<Vault, "PictureField">> {
  const { issuer, subject } = portal.account;
  const { autoLockMinutes: minutes } = await readDevice({ vendorId: portal.vendorId, issuer, subject });
  return createVaultClient(portal, browserWorkers, { surroundings: pageSurroundings, minutes });
}
