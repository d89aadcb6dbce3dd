import { defineConfig } from "@playwright/test";

import keycloakConfig from "./keycloak.config.ts";

/**
 * Runs `npm run test:compose`: the full profile of compose.yaml, with the programs of its images as
 * processes of this machine.
 */
export default defineConfig(keycloakConfig, {
  testDir: "compose",
  timeout: 1_800_000,
  // the proxy signs its certificates itself
  use: { ignoreHTTPSErrors: true },
});
