/**
 * Visitor worker: has the link key of a page opened by a link, but no access to an account's keys.
 * Bundled into one file and started from a blob URL.
 */
import "./rpc/zod-settings.ts";

import type { EngineWorkerApi } from "@relicario/engine/worker-api";
import { createCallClient, serveCalls } from "@relicario/engine/worker-calls";

import { createVisitorWorkerApi } from "./worker/visitor-worker-api.ts";

serveCalls(createVisitorWorkerApi((port) => createCallClient<EngineWorkerApi>(port)));
