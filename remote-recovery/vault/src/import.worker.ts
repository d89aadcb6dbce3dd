/**
 * Reads files that are imported, and opens what is sealed in them: one file of code, started from a
 * blob address for one of either. It holds no key of an account and makes no call.
 */
import "./rpc/zod-settings.ts";

import { serveCalls } from "@relicario/engine/worker-calls";

import { createImportWorkerApi } from "./imports/import-worker-api.ts";

serveCalls(createImportWorkerApi());
