import type { VaultFactory } from "@relicario/shared/contract";

import { PictureField } from "../picture/PictureField.tsx";
import { browserWorkers } from "./worker/start-workers.ts";
import { createVaultClient } from "./worker/vault-client.ts";

/** The vault that the recovery remote provides: one for each sign-in. */
export const createVault: VaultFactory = (portal) => Promise.resolve(Object.freeze({ ...createVaultClient(portal, browserWorkers), PictureField }));
