/** Reads files that are imported: one file of code, started from a blob address for one reading. It holds no key of an account and makes no call. */
import "./zod-settings.ts";

import { serveCalls } from "@relicario/engine/worker-calls";

import { importWorkerApi } from "./imports/import-worker-api.ts";

serveCalls(importWorkerApi);
