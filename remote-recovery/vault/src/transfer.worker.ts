/**
 * Transfer worker: seals and opens chunks, and has no key of an account. Bundled into one file and
 * started twice from a blob URL.
 */
import "./rpc/zod-settings.ts";

import { serveCalls } from "@relicario/engine/worker-calls";

import { createTransferWorkerApi } from "./transfer/transfer-worker-api.ts";

serveCalls(createTransferWorkerApi());
