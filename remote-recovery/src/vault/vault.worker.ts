/** The vault's worker: one file, started from a blob address. Keys and identities live and die here. */
import * as Comlink from "comlink";

import { carryPortalErrors } from "../engine/comlink-errors.ts";
import { createEngineClient } from "../engine/engine-client.ts";
import type { EngineService } from "../engine/engine-service.ts";
import { createVaultService } from "./worker/vault-service.ts";

carryPortalErrors();
Comlink.expose(createVaultService((port) => createEngineClient(Comlink.wrap<EngineService>(port))));
