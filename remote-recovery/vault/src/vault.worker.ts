/** Vault worker: has the account's keys. Bundled into one file and started from a blob URL. */
import "./rpc/zod-settings.ts";

import type { EngineWorkerApi } from "@relicario/engine/worker-api";
import { createCallClient, serveCalls } from "@relicario/engine/worker-calls";

import { createVaultWorkerApi } from "./worker/vault-worker-api.ts";

serveCalls(createVaultWorkerApi((port) => createCallClient<EngineWorkerApi>(port)));
