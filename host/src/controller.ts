/**
 * First script of the vault's origin. Verifies the deployment independently of the portal's page,
 * with the same checks, and starts the vault's controller.
 */
import "./zod-settings.ts"; // before the first schema is created

import { guardScripts } from "./deployment/integrity.ts";
import { startController } from "./vault-origin/start-controller.ts";

guardScripts(window, __INTEGRITY_FUNCTION__, "{}");
startController(window, { now: Date.now, providedPackages: __SHARED__ });
