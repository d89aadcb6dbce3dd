/** The worker's entry: serves the engine to the page that started it and, through ports, to the vault's worker. */
import * as Comlink from "comlink";
import { carryPortalErrors } from "./comlink-errors.ts";
import { createEngineService } from "./engine-service.ts";

carryPortalErrors();
Comlink.expose(createEngineService());
