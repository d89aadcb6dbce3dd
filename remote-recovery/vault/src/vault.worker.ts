/** The vault's worker: one file, started from a blob address. Keys and identities live and die here. */
import * as Comlink from "comlink";

import { carryPortalErrors } from "@relicario/engine/worker-calls";
import { createEngineClient } from "@relicario/engine/client";
import type { EngineWorkerApi } from "@relicario/engine/client";
import { createVaultWorkerApi } from "./worker/vault-worker-api.ts";

carryPortalErrors();
Comlink.expose(createVaultWorkerApi((port) => createEngineClient(Comlink.wrap<EngineWorkerApi>(port))));
