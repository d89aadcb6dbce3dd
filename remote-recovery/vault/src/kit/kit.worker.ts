/**
 * Entry of a kit's worker: one file that the kit's page starts from a blob URL. Keys never leave
 * this worker.
 */
import "../rpc/zod-settings.ts";

import { serveCalls } from "@relicario/engine/worker-calls";

import { createKitWorkerApi } from "./kit-worker-api.ts";

serveCalls(createKitWorkerApi());
