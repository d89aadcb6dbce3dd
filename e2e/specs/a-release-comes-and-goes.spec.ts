import type { Page } from "@playwright/test";

import { newAccount, signUp } from "../pages/account.ts";
import { expect, test } from "../support/portal-test.ts";
import { releasesOf } from "../support/releases.ts";

const navigation = (page: Page) => page.getByRole("navigation").first();
const toSettings = (page: Page) => navigation(page).getByRole("link", { name: "Settings" }).click();
const toSharing = (page: Page) => navigation(page).getByRole("link", { name: "Shared with me" }).click();
const old = (page: Page) => page.getByRole("heading", { level: 1, name: "Profile", exact: true });
const next = (page: Page) => page.getByRole("heading", { level: 1, name: "Profile, second release" });

test("a release is tried by half of the sessions, promoted, gone back from and stopped, while pages are open: nobody meets an error, and the log tells it", async ({
  page,
  context,
  portal,
}) => {
  test.slow();
  const releases = releasesOf(portal);
  const first = await releases.stable("settings");
  /**
   * A tab whose draw, a hash of this id, is known: "a" is among the first ten per cent, "b" just
   * above fifty.
   */
  const tabOf = async (id: "a" | "b"): Promise<Page> => {
    const tab = await context.newPage();
    await tab.addInitScript((draw) => {
      sessionStorage.setItem("releaseDraw", draw);
    }, id);
    await tab.goto("/settings/profile");
    return tab;
  };
  const act = async (...words: readonly string[]): Promise<string> => {
    const { ok, said } = await releases.command(...words);
    expect(ok, said).toBe(true);
    return said;
  };

  await signUp(page, newAccount());
  await toSettings(page);
  await expect(old(page)).toBeVisible();
  const second = await releases.makeNext("settings", "locales/en/settings.json", (text) =>
    text.replace('"title": "Profile"', '"title": "Profile, second release"'),
  );
  expect(await act("verify", second)).toContain("relicario: fits.");

  await act("canary", second, "--percent", "50");
  const [among, other] = [await tabOf("a"), await tabOf("b")];
  await expect(next(among)).toBeVisible();
  await expect(old(other)).toBeVisible();

  await act("promote", second);
  await toSharing(page);
  await expect(page.getByText("A newer version of this portal is ready")).toBeVisible();
  await toSettings(page);
  await expect(old(page)).toBeVisible(); // until it is reloaded
  await page.getByRole("button", { name: "Reload" }).click();
  await expect(next(page)).toBeVisible();

  await act("rollback", "settings");
  await toSharing(page);
  await toSettings(page);
  await expect(next(page)).toBeVisible();
  const later = await tabOf("a");
  await expect(old(later)).toBeVisible();

  await test.step("switched off, it stops in pages that run it, and in no others", async () => {
    await act("disable", second, "--reason", "tried");
    await toSharing(page);
    await toSettings(page);
    await expect(page.getByRole("main").getByRole("alert")).toContainText("switched this part off");
    await toSharing(later);
    await toSettings(later);
    await expect(old(later)).toBeVisible();
    await page.getByRole("main").getByRole("button", { name: "Reload the page" }).click();
    await expect(old(page)).toBeVisible();
  });

  const { ok, said } = await releases.command("promote", second);
  expect(ok).toBe(false);
  expect(said).toContain("it is switched off there");
  expect(await releases.stable("settings")).toBe(first);
  const log = (await act("log")).split("\n").filter((line) => line.includes("  story  "));
  expect(log.map((line) => line.split("  ")[2])).toEqual(["canary", "promote", "rollback", "disable"]);
});

test("a developer's release runs in the one tab that was given its team's override, and in none of a portal in production", async ({
  page,
  context,
  portal,
}) => {
  test.slow();
  const releases = releasesOf(portal);
  await signUp(page, newAccount());
  await toSettings(page);
  await expect(old(page)).toBeVisible();
  const tried = await releases.makeNext("settings", "locales/en/settings.json", (text) =>
    text.replace('"title": "Profile"', '"title": "Profile, in development"'),
  );
  const link = async (): Promise<string> => {
    const { ok, said } = await releases.command("override", tried);
    expect(ok, said).toBe(true);
    return said.trim();
  };
  const override = await link();

  const tab = await context.newPage();
  await tab.goto(override);
  expect(tab.url()).not.toContain("releaseOverride");
  await toSettings(tab);
  await expect(tab.getByRole("heading", { level: 1, name: "Profile, in development" })).toBeVisible();
  await expect(tab.getByText(`This tab alone runs ${tried}`)).toBeVisible();
  await page.reload();
  await expect(old(page)).toBeVisible();

  await test.step("its developer ends it", async () => {
    await tab.getByRole("button", { name: "Back to the promoted one" }).click();
    await expect(old(tab)).toBeVisible();
    await expect(tab.getByText("This tab alone runs")).toBeHidden();
  });

  await test.step("signed by somebody else, it counts as nothing, and the tab says so", async () => {
    const [head, body] = (override.split("releaseOverride=")[1] ?? "").split(".");
    await tab.goto(`/#releaseOverride=${head ?? ""}.${body ?? ""}.${"A".repeat(86)}`);
    await expect(tab.getByText("A developer's release was refused")).toBeVisible();
    await toSettings(tab);
    await expect(old(tab)).toBeVisible();
    await tab.getByRole("button", { name: "Understood" }).click();
    await expect(tab.getByText("A developer's release was refused")).toBeHidden();
  });

  await test.step("in production the command refuses, and so does the page", async () => {
    const back = await releases.replaceDocument({ environment: "production" });
    await tab.goto(override);
    await expect(tab.getByText("This portal is in production")).toBeVisible();
    await toSettings(tab);
    await expect(old(tab)).toBeVisible();
    expect(await releases.command("override", tried)).toMatchObject({
      ok: false,
      said: expect.stringContaining("is in production"),
    });
    await back();
  });
});
