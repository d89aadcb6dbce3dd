import { defineConfig } from "@playwright/test";

import baseConfig from "./playwright.config.ts";

/**
 * Runs `npm run test:keycloak`: one portal, with a real Keycloak as its identity provider, which is
 * slow next to the portal.
 */
export default defineConfig(baseConfig, {
  testDir: "keycloak",
  workers: 1,
  timeout: 600_000,
  expect: { timeout: 90_000 },
  use: { actionTimeout: 60_000, navigationTimeout: 60_000 },
});
