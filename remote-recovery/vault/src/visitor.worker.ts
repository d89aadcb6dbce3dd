/**
 * The visitor's worker: one file, started from a blob address, for pages opened by a link. The link
 * key lives and dies here; there is no way to an account's keys.
 */
import "./rpc/zod-settings.ts";

import type { EngineWorkerApi } from "@relicario/engine/worker-api";
import { createCallClient, serveCalls } from "@relicario/engine/worker-calls";

import { createVisitorWorkerApi } from "./worker/visitor-worker-api.ts";

serveCalls(createVisitorWorkerApi((port) => createCallClient<EngineWorkerApi>(port)));
