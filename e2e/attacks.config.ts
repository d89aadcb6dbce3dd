import { defineConfig } from "@playwright/test";

import baseConfig from "./playwright.config.ts";
import { createLaunchOptions } from "./support/browser.ts";

/**
 * Runs the attacks (`pnpm test:attacks`) with the configuration of the stories, one at a time, in a
 * browser as people have it.
 */
export default defineConfig(baseConfig, {
  testDir: "attacks",
  workers: 1,
  use: { launchOptions: createLaunchOptions() },
});
