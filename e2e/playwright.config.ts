import { defineConfig } from "@playwright/test";

import { chromiumArguments } from "./support/browser.ts";

/**
 * Real processes, a real database, a real browser. Each worker has a portal of its own on free
 * ports.
 */
export default defineConfig({
  testDir: "specs",
  outputDir: "../.cache/e2e-results",
  workers: 2,
  fullyParallel: false,
  forbidOnly: process.env["CI"] === "true",
  retries: 0,
  timeout: 180_000,
  expect: { timeout: 20_000 },
  reporter: [["list"], ["json", { outputFile: "../.cache/e2e-results.json" }]],
  use: {
    locale: "en-GB",
    timezoneId: "UTC",
    viewport: { width: 1280, height: 900 },
    actionTimeout: 20_000,
    navigationTimeout: 30_000,
    trace: "off", // it reads pictures back from their blob addresses, which the content security policy rightly refuses
    screenshot: "only-on-failure",
    // drawing what moves is a seventh of the work; stories of the frame, of looks and of the
    // keyboard see it move
    contextOptions: { reducedMotion: "reduce" },
    launchOptions: chromiumArguments(),
  },
});
