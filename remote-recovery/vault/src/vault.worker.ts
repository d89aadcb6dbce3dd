/** The vault's worker: one file, started from a blob address. Keys and identities live and die here. */
import * as Comlink from "comlink";

import { carryPortalErrors } from "@relicario/engine/worker-calls";
import { createEngineClient } from "@relicario/engine/client";
import type { EngineService } from "@relicario/engine/client";
import { createVaultService } from "./worker/vault-service.ts";

carryPortalErrors();
Comlink.expose(createVaultService((port) => createEngineClient(Comlink.wrap<EngineService>(port))));
