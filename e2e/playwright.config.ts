import { defineConfig } from "@playwright/test";

import { createStoryLaunchOptions } from "./support/browser.ts";

/**
 * Real processes, a real database, a real browser. Each worker has its own portal on free ports.
 */
export default defineConfig({
  testDir: "specs",
  outputDir: "../.cache/e2e-results",
  workers: 2,
  fullyParallel: false,
  forbidOnly: process.env["CI"] === "true",
  retries: 0,
  // bounds for what hangs, not for how fast a busy machine is
  timeout: 600_000,
  expect: { timeout: 60_000 },
  reporter: [["list"], ["json", { outputFile: "../.cache/e2e-results.json" }]],
  use: {
    locale: "en-GB",
    timezoneId: "UTC",
    viewport: { width: 1280, height: 900 },
    actionTimeout: 60_000,
    navigationTimeout: 60_000,
    trace: "off", // tracing reads pictures back from their blob URLs, which the content security policy refuses
    screenshot: "only-on-failure",
    // animations cost a seventh of the time; stories of the frame, of appearance and of the
    // keyboard enable them
    contextOptions: { reducedMotion: "reduce" },
    launchOptions: createStoryLaunchOptions(),
  },
});
