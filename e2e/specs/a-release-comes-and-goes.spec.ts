import type { Page } from "@playwright/test";

import { newAccount, signUp } from "../pages/account.ts";
import { expect, test } from "../support/portal-test.ts";
import { createReleaseTools } from "../support/releases.ts";

const navigation = (page: Page) => page.getByRole("navigation").first();
const goToSettings = (page: Page) => navigation(page).getByRole("link", { name: "Settings" }).click();
const goToSharing = (page: Page) => navigation(page).getByRole("link", { name: "Shared with me" }).click();
const currentHeading = (page: Page) => page.getByRole("heading", { level: 1, name: "Profile", exact: true });
const nextHeading = (page: Page) => page.getByRole("heading", { level: 1, name: "Profile, second release" });

test("a release is tried by half of the sessions, promoted, rolled back and disabled while pages are open, without errors, and the log records it", async ({
  page,
  context,
  portal,
}) => {
  test.slow();
  const releases = createReleaseTools(portal);
  const firstRelease = await releases.findStableRelease("settings");
  /**
   * Opens a tab whose release draw, a hash of this id, is known: "a" is among the first ten per
   * cent, "b" just above fifty.
   */
  const openTab = async (id: "a" | "b"): Promise<Page> => {
    const tab = await context.newPage();
    await tab.addInitScript((draw) => {
      sessionStorage.setItem("releaseDraw", draw);
    }, id);
    await tab.goto("/settings/profile");
    return tab;
  };
  const runCommand = async (...args: readonly string[]): Promise<string> => {
    const { ok, output } = await releases.runCommand(...args);
    expect(ok, output).toBe(true);
    return output;
  };

  await signUp(page, newAccount());
  await goToSettings(page);
  await expect(currentHeading(page)).toBeVisible();
  const secondRelease = await releases.createChangedRelease("settings", "locales/en/settings.json", (text) =>
    text.replace('"title": "Profile"', '"title": "Profile, second release"'),
  );
  expect(await runCommand("verify", secondRelease)).toContain("relicario: fits.");

  await runCommand("canary", secondRelease, "--percent", "50");
  const [canaryTab, stableTab] = [await openTab("a"), await openTab("b")];
  await expect(nextHeading(canaryTab)).toBeVisible();
  await expect(currentHeading(stableTab)).toBeVisible();

  await runCommand("promote", secondRelease);
  await goToSharing(page);
  await expect(page.getByText("A newer version of this portal is ready")).toBeVisible();
  await goToSettings(page);
  await expect(currentHeading(page)).toBeVisible(); // until it is reloaded
  await page.getByRole("button", { name: "Reload" }).click();
  await expect(nextHeading(page)).toBeVisible();

  await runCommand("rollback", "settings");
  await goToSharing(page);
  await goToSettings(page);
  await expect(nextHeading(page)).toBeVisible();
  const laterTab = await openTab("a");
  await expect(currentHeading(laterTab)).toBeVisible();

  await test.step("a disabled release stops in pages that run it, and in no others", async () => {
    await runCommand("disable", secondRelease, "--reason", "tried");
    await goToSharing(page);
    await goToSettings(page);
    await expect(page.getByRole("main").getByRole("alert")).toContainText("switched this part off");
    await goToSharing(laterTab);
    await goToSettings(laterTab);
    await expect(currentHeading(laterTab)).toBeVisible();
    await page.getByRole("main").getByRole("button", { name: "Reload the page" }).click();
    await expect(currentHeading(page)).toBeVisible();
  });

  const { ok, output } = await releases.runCommand("promote", secondRelease);
  expect(ok).toBe(false);
  expect(output).toContain("it is disabled there");
  expect(await releases.findStableRelease("settings")).toBe(firstRelease);
  const log = (await runCommand("log")).split("\n").filter((line) => line.includes("  story  "));
  expect(log.map((line) => line.split("  ")[2])).toEqual(["canary", "promote", "rollback", "disable"]);
});

test("a developer's release runs only in the tab with its team's override, and never in a portal in production", async ({
  page,
  context,
  portal,
}) => {
  test.slow();
  const releases = createReleaseTools(portal);
  await signUp(page, newAccount());
  await goToSettings(page);
  await expect(currentHeading(page)).toBeVisible();
  const developmentRelease = await releases.createChangedRelease("settings", "locales/en/settings.json", (text) =>
    text.replace('"title": "Profile"', '"title": "Profile, in development"'),
  );
  const createOverrideLink = async (): Promise<string> => {
    const { ok, output } = await releases.runCommand("override", developmentRelease);
    expect(ok, output).toBe(true);
    return output.trim();
  };
  const override = await createOverrideLink();

  const tab = await context.newPage();
  await tab.goto(override);
  expect(tab.url()).not.toContain("releaseOverride");
  await goToSettings(tab);
  await expect(tab.getByRole("heading", { level: 1, name: "Profile, in development" })).toBeVisible();
  await expect(tab.getByText(`Only this tab runs ${developmentRelease}`)).toBeVisible();
  await page.reload();
  await expect(currentHeading(page)).toBeVisible();

  await test.step("its developer stops the override", async () => {
    await tab.getByRole("button", { name: "Use the promoted release" }).click();
    await expect(currentHeading(tab)).toBeVisible();
    await expect(tab.getByText("Only this tab runs")).toBeHidden();
  });

  await test.step("an override with another signature is ignored, and the tab says so", async () => {
    const [header, body] = (override.split("releaseOverride=")[1] ?? "").split(".");
    await tab.goto(`/#releaseOverride=${header ?? ""}.${body ?? ""}.${"A".repeat(86)}`);
    await expect(tab.getByText("A developer's release was refused")).toBeVisible();
    await goToSettings(tab);
    await expect(currentHeading(tab)).toBeVisible();
    await tab.getByRole("button", { name: "Close" }).click();
    await expect(tab.getByText("A developer's release was refused")).toBeHidden();
  });

  await test.step("in production the command refuses, and so does the page", async () => {
    const restore = await releases.patchDeployment({ environment: "production" });
    await tab.goto(override);
    await expect(tab.getByText("This portal is in production")).toBeVisible();
    await goToSettings(tab);
    await expect(currentHeading(tab)).toBeVisible();
    expect(await releases.runCommand("override", developmentRelease)).toMatchObject({
      ok: false,
      output: expect.stringContaining("is in production"),
    });
    await restore();
  });
});
