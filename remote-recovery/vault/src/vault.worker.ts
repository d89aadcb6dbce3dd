/**
 * The vault's worker: one file, started from a blob address. Keys and identities live and die here.
 */
import "./rpc/zod-settings.ts";

import type { EngineWorkerApi } from "@relicario/engine/worker-api";
import { createCallClient, serveCalls } from "@relicario/engine/worker-calls";

import { createVaultWorkerApi } from "./worker/vault-worker-api.ts";

serveCalls(createVaultWorkerApi((port) => createCallClient<EngineWorkerApi>(port)));
