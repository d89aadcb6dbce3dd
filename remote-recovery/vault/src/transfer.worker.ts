/**
 * The transfer's worker: one file, started twice from a blob address. It seals and opens pieces,
 * and holds no key of an account.
 */
import "./rpc/zod-settings.ts";

import { serveCalls } from "@relicario/engine/worker-calls";

import { createTransferWorkerApi } from "./transfer/transfer-worker-api.ts";

serveCalls(createTransferWorkerApi());
