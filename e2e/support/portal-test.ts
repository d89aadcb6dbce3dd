import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";

import { test as base } from "@playwright/test";
import { startPortal, type RunningPortal } from "@relicario/tooling/portal";

import { actOnceStarted } from "./starting-elements.ts";
import { PlantedTexts } from "./planted-texts.ts";
import { recordTokens, startTelemetryCollector } from "./telemetry.ts";

interface PortalFixtures {
  /**
   * Set by a spec that counts the reports of pages to their portal. No other spec then uses that
   * portal.
   */
  readonly ownPortal: boolean;
  readonly portal: RunningPortal;
  readonly dataFolder: string;
}

/** A whole portal for each worker, on free ports and with its own data. */
export const test = base.extend<
  { readonly problems: readonly string[]; readonly planted: PlantedTexts },
  PortalFixtures
>({
  ownPortal: [false, { option: true, scope: "worker" }],
  dataFolder: [
    async ({}, use) => {
      const folder = await mkdtemp(path.join(tmpdir(), "relicario-e2e-"));
      await use(folder);
      await rm(folder, { recursive: true, force: true });
    },
    { scope: "worker" },
  ],
  portal: [
    async ({ dataFolder }, use) => {
      const telemetry = await startTelemetryCollector(dataFolder);
      const portal = await startPortal({ port: 0, dataDir: dataFolder, environment: telemetry.environment });
      await use(portal);
      await telemetry.readMetrics(portal);
      await portal.stop();
      await telemetry.close();
      const { findings, metrics, spans, logs } = await telemetry.search();
      base.expect(findings).toEqual([]);
      base.expect(metrics).toContain("http_server_request_duration_seconds_count");
      base.expect(spans).toContain('"http.route"');
      base.expect(logs).toContain('"msg":"answered"');
    },
    { scope: "worker", timeout: 240_000 },
  ],
  baseURL: async ({ portal }, use) => {
    await use(portal.origin);
  },
  browser: [
    async ({ browser }, use) => {
      browser.on("context", actOnceStarted);
      browser.on("context", recordTokens);
      await use(browser);
    },
    { scope: "worker" },
  ],
  /** Uncaught errors of pages, and refusals of the content security policy: none is expected. */
  problems: [
    async ({ context }, use, testInfo) => {
      const problems: string[] = [];
      context.on("weberror", (error) => problems.push(error.error().message));
      context.on("console", (message) => {
        if (/content security policy/i.test(message.text())) problems.push(message.text());
      });
      await use(problems);
      if (testInfo.status === "passed") base.expect(problems).toEqual([]);
    },
    { auto: true },
  ],
  /**
   * Texts that a spec typed. After the spec the access log, the databases and the objects hold none
   * of them.
   */
  planted: [
    async ({ portal, dataFolder }, use, testInfo) => {
      const planted = new PlantedTexts();
      await use(planted);
      if (testInfo.status !== "passed") return;
      const { findings, files, demoAccountHits, accessLog } = await planted.searchPortal(portal, dataFolder);
      base.expect(findings).toEqual([]);
      base.expect(files).toBeGreaterThan(100);
      base.expect(demoAccountHits).toBeGreaterThan(0);
      base.expect(accessLog).toMatch(/"route":"\/(share|requests)/);
    },
    { timeout: 240_000 },
  ],
});

export { expect } from "@playwright/test";
