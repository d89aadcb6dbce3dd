/**
 * Import worker: reads imported files, or opens one sealed content of an archive. Bundled into one
 * file and started from a blob URL. Has no key of an account and makes no network calls.
 */
import "./rpc/zod-settings.ts";

import { serveCalls } from "@relicario/engine/worker-calls";

import { createImportWorkerApi } from "./imports/import-worker-api.ts";

serveCalls(createImportWorkerApi());
