/**
 * The worker of a kit: one file, started from a blob address by the kit's own page. Picture,
 * passphrase and keys live and die here.
 */
import "../rpc/zod-settings.ts";

import { serveCalls } from "@relicario/engine/worker-calls";

import { createKitWorkerApi } from "./kit-worker-api.ts";

serveCalls(createKitWorkerApi());
