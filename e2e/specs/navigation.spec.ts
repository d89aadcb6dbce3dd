import type { Page } from "@playwright/test";

import { newAccount, signUp } from "../pages/account.ts";
import { expect, test } from "../support/portal-test.ts";

const heading = (page: Page, name: string | RegExp) => page.getByRole("heading", { level: 1, name });
const pathOf = (page: Page) => new URL(page.url()).pathname;
const scrollOffset = (page: Page) => page.evaluate(() => window.scrollY);
/** As by the browser's own button. */
const goBack = (page: Page) =>
  page.evaluate(() => {
    history.back();
  });

test("every change of route names the window, begins at the new screen, and finds its place again on the way back", async ({
  page,
}) => {
  await page.setViewportSize({ width: 1000, height: 320 });
  await signUp(page, newAccount());

  await test.step("the first screen takes no focus", async () => {
    await expect(page).toHaveTitle(/^Hello.* · Relicario$/);
    expect(await page.evaluate(() => document.activeElement === document.body)).toBe(true);
  });

  await test.step("a link leads to the top of the next screen, and the focus to its heading", async () => {
    await expect.poll(() => page.evaluate(() => document.documentElement.scrollHeight)).toBeGreaterThan(600);
    await page.evaluate(() => {
      window.scrollTo(0, 240);
    });
    await page.getByRole("link", { name: "Secrets", exact: true }).first().click();
    await expect(heading(page, "Secrets")).toBeFocused();
    await expect(page).toHaveTitle("Secrets · Relicario");
    expect(await scrollOffset(page)).toBe(0);
  });

  await test.step("the keyboard goes on from there", async () => {
    await page.keyboard.press("Tab");
    expect(await page.evaluate(() => document.querySelector("main")?.contains(document.activeElement))).toBe(true);
  });

  await test.step("back is where it was left", async () => {
    await goBack(page);
    await expect(heading(page, /^Hello/)).toBeFocused();
    await expect(page).toHaveTitle(/^Hello.* · Relicario$/);
    await expect.poll(() => scrollOffset(page)).toBe(240);
    await page.goForward();
    await expect(heading(page, "Secrets")).toBeFocused();
    await goBack(page);
    await expect.poll(() => scrollOffset(page)).toBe(240);
  });

  await test.step("a page that is loaded anew, too", async () => {
    await page.reload();
    await expect(heading(page, /^Hello/)).toBeVisible();
    await expect.poll(() => scrollOffset(page)).toBe(240);
  });

  await test.step("a screen of the host's own as well, and sub-pages of a remote", async () => {
    await page.getByRole("link", { name: "Help" }).click();
    await expect(heading(page, "Help")).toBeFocused();
    await expect(page).toHaveTitle("Help · Relicario");
    await page.getByRole("link", { name: "Settings" }).first().click();
    await expect(heading(page, "Profile")).toBeFocused();
    await page.getByRole("link", { name: "Delete account" }).click();
    await expect(heading(page, "Delete account")).toBeFocused();
    await expect(page).toHaveTitle("Delete account · Relicario");
  });

  await test.step("what was typed is not lost by the browser's back button", async () => {
    await page.setViewportSize({ width: 1280, height: 900 });
    await page.getByRole("link", { name: "Home", exact: true }).first().click();
    await expect(heading(page, /^Hello/)).toBeFocused();
    await page.getByRole("link", { name: "Add secret" }).first().click();
    await page.getByLabel("Your secret").fill("correct horse battery staple");

    await goBack(page);
    const question = page.getByRole("alertdialog");
    await expect(question).toBeVisible();
    await expect.poll(() => pathOf(page)).toBe("/add-secret");
    await question.getByRole("button", { name: "Stay" }).click();
    await expect(question).toBeHidden();
    await expect(page.getByLabel("Your secret")).toHaveValue("correct horse battery staple");
    expect(pathOf(page)).toBe("/add-secret");

    await goBack(page);
    await question.getByRole("button", { name: "Leave" }).click();
    await expect(heading(page, /^Hello/)).toBeFocused();
    expect(pathOf(page)).toBe("/home");
  });

  await test.step("the menu of a small screen leads to the heading of the next", async () => {
    await page.setViewportSize({ width: 400, height: 700 });
    await page.getByRole("button", { name: "Open the menu" }).click();
    await page.getByRole("dialog", { name: "Menu" }).getByRole("link", { name: "Help" }).click();
    await expect(heading(page, "Help")).toBeFocused();
  });
});

test("links that were looked at leave nothing of their workers in the page", async ({ page }) => {
  await signUp(page, newAccount());
  const devtools = await page.context().newCDPSession(page);
  const listeners = async (): Promise<number> => {
    await devtools.send("HeapProfiler.collectGarbage");
    return (await devtools.send("Memory.getDOMCounters")).jsEventListeners;
  };
  const navigateInApp = async (to: string, name: string) => {
    await page.evaluate((address) => {
      history.pushState(null, "", address);
      dispatchEvent(new PopStateEvent("popstate"));
    }, to);
    await expect(heading(page, name)).toBeFocused();
  };
  const visitLink = async (times: number) => {
    for (let time = 0; time < times; time += 1) {
      await navigateInApp(`/shared/${"A".repeat(22)}`, "Something was shared with you");
      // its worker answered
      await expect(page.getByRole("heading", { level: 2, name: "Open the link again" })).toBeVisible();
      await navigateInApp("/help", "Help");
    }
  };

  await visitLink(2); // what is there once, from the first time on
  const listenersBefore = await listeners();
  await visitLink(8);
  await expect.poll(listeners).toBeLessThanOrEqual(listenersBefore + 2);
});
