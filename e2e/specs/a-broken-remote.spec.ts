import type { Page } from "@playwright/test";

import { newAccount, signUp } from "../pages/account.ts";
import { injectServerFault, type ServerFault } from "../support/faulty-server.ts";
import { expect, test } from "../support/portal-test.ts";
import { createReleaseTools } from "../support/releases.ts";

const mainArea = (page: Page) => page.getByRole("main");
const goTo = (page: Page, name: string) =>
  page.getByRole("navigation").first().getByRole("link", { name, exact: true }).click();

/** Moves the page's clock past the time limits of all attempts, for the slow fault. */
async function expectAreaFails(page: Page, reason: string): Promise<void> {
  await goTo(page, "Settings");
  await expect(async () => {
    await page.clock.fastForward(10_000);
    await expect(mainArea(page).getByRole("alert")).toContainText("Settings: not available right now", {
      timeout: 500,
    });
  }).toPass();
  await expect(mainArea(page).getByRole("alert")).toContainText(reason);
}

async function expectOthersWork(page: Page): Promise<void> {
  await goTo(page, "Shared with me");
  await expect(page.getByRole("heading", { level: 1, name: "Shared with me" })).toBeVisible();
  await goTo(page, "Secrets"); // the vault, which is recovery's, reads its list
  await expect(page.getByRole("heading", { level: 1, name: "Secrets" })).toBeVisible();
  await expect(mainArea(page).getByRole("alert")).toHaveCount(0);
}

/**
 * Expects the other areas to work, and "Try again" to show this one, without a reload, after the
 * fault.
 */
async function expectFailureAndRecovery(page: Page, reason: string, removeFault: () => Promise<void>): Promise<void> {
  const timeOrigin = await page.evaluate(() => performance.timeOrigin);
  await expectAreaFails(page, reason);
  await expectOthersWork(page);
  await expectAreaFails(page, reason);
  await removeFault();
  await mainArea(page).getByRole("button", { name: "Try again" }).click();
  await expect(page.getByRole("heading", { level: 1, name: "Profile" })).toBeVisible();
  expect(await page.evaluate(() => performance.timeOrigin)).toBe(timeOrigin);
}

for (const [fault, description, reason] of [
  [404, "answers 404", "A file of this part of the portal is not on its server"],
  [500, "answers 500", "could not be loaded"],
  ["slow", "accepts requests and never responds", "takes too long to load"],
] as const satisfies readonly (readonly [ServerFault, string, string])[]) {
  test(`a remote whose server ${description}: its area says so, the others work, and trying again loads it without a reload`, async ({
    page,
    portal,
  }) => {
    await page.clock.install();
    await signUp(page, newAccount());
    await expectFailureAndRecovery(page, reason, await injectServerFault(portal, "settings", fault));
  });
}

for (const [file, change, reason] of [
  ["remoteEntry.js", "appendByte", "is not what its team signed"],
  ["remoteEntry.js", "removeFile", "A file of this part of the portal is not on its server"],
  ["locales/en/settings.json", "removeFile", "The texts of this part of the portal could not be loaded"],
] as const) {
  test(`a remote of which ${change} changed ${file}: its area says so, the others work, and trying again loads it without a reload`, async ({
    page,
    portal,
  }) => {
    const releases = createReleaseTools(portal);
    const restore = await releases[change](await releases.findStableRelease("settings"), file);
    try {
      await page.clock.install();
      await signUp(page, newAccount());
      await expectFailureAndRecovery(page, reason, restore);
    } finally {
      await restore();
    }
  });
}

/** Scripts appended to a release's entry, which fail while `globalThis.broken` is true. */
const faults = {
  "while its entry runs": `if (globalThis.broken) relicario_settings = undefined;`,
  "while its module is evaluated": `{ const { get, init } = relicario_settings; relicario_settings = { init, get: async (name) => { const module = await get(name); return () => { if (globalThis.broken) throw new Error("broken"); return module(); }; } }; }`,
  "when it is initialised": `{ const { get, init } = relicario_settings; relicario_settings = { get, init: (...given) => { if (globalThis.broken) throw new Error("broken"); return init(...given); } }; }`,
  "while it renders": `{
    const { get, init } = relicario_settings;
    const breakable = (load) => () => load().then(({ default: Page }) => ({ default: () => { if (globalThis.broken) throw new Error("broken"); return Page({}); } }));
    relicario_settings = { init, get: async (name) => { const module = await get(name); return () => { const { default: remote } = module(); return { default: { ...remote, routes: Object.fromEntries(Object.entries(remote.routes).map(([path, load]) => [path, breakable(load)])) } }; }; } };
  }`,
};

for (const [moment, script] of Object.entries(faults)) {
  test(`a remote that throws ${moment}: the others work, and trying again loads it without a reload`, async ({
    page,
    portal,
  }) => {
    const releases = createReleaseTools(portal);
    const { releases: releaseChoices, release_records: records } = await releases.readDeployment();
    const release = await releases.createChangedRelease("settings", "remoteEntry.js", (text) => `${text}\n${script}`);
    const restore = await releases.patchDeployment({
      releases: { ...releaseChoices, settings: { stable: release } },
      release_records: {
        ...records,
        [release]: await releases.signRecord("settings", await releases.readRecord(release)),
      },
    });
    try {
      await page.clock.install();
      await page.addInitScript(() => {
        Object.assign(globalThis, { broken: true });
      });
      await signUp(page, newAccount());
      await expectFailureAndRecovery(page, "stopped unexpectedly", () =>
        page.evaluate(() => {
          Object.assign(globalThis, { broken: false });
        }),
      );
    } finally {
      await restore();
    }
  });
}
