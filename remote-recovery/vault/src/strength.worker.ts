/**
 * Strength worker: estimates passphrases and passwords. Bundled into one file with its
 * dictionaries. Has no keys and makes no network calls.
 */
import { estimateStrength } from "@relicario/shared/contract";
import { serveCalls } from "@relicario/engine/worker-calls";

import type { StrengthWorkerApi } from "./worker/strength-worker-api.ts";

serveCalls({ ping: () => undefined, estimateStrength } satisfies StrengthWorkerApi);
