import type { VaultFactory } from "@relicario/shared/contract";

import { PictureFieldLater } from "../picture/PictureFieldLater.tsx";
import { readDevice } from "./device/device.ts";
import { pageSurroundings } from "./device/idle.ts";
import { browserWorkers } from "./worker/start-workers.ts";
import { createVaultClient } from "./worker/vault-client.ts";

/** The vault that the recovery remote provides: one for each sign-in. */
export const createVault: VaultFactory = async (portal) => {
  const { issuer, subject } = portal.account;
  const { autoLockMinutes: minutes } = await readDevice({ vendorId: portal.vendorId, issuer, subject });
  return Object.freeze({ ...createVaultClient(portal, browserWorkers, { surroundings: pageSurroundings, minutes }), PictureField: PictureFieldLater });
};
