import type { Page } from "@playwright/test";

import { newAccount, signUp } from "../pages/account.ts";
import { expect, test } from "../support/portal-test.ts";

const heading = (page: Page, name: string | RegExp) => page.getByRole("heading", { level: 1, name });
const getPath = (page: Page) => new URL(page.url()).pathname;
const getScrollOffset = (page: Page) => page.evaluate(() => window.scrollY);
const goBack = (page: Page) =>
  page.evaluate(() => {
    history.back();
  });

test("every change of route sets the title, starts at the top of the new screen, and restores the scroll position on the way back", async ({
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
    expect(await getScrollOffset(page)).toBe(0);
  });

  await test.step("the keyboard continues from the heading", async () => {
    await page.keyboard.press("Tab");
    expect(await page.evaluate(() => document.querySelector("main")?.contains(document.activeElement))).toBe(true);
  });

  await test.step("going back restores the position", async () => {
    await goBack(page);
    await expect(heading(page, /^Hello/)).toBeFocused();
    await expect(page).toHaveTitle(/^Hello.* · Relicario$/);
    await expect.poll(() => getScrollOffset(page)).toBe(240);
    await page.goForward();
    await expect(heading(page, "Secrets")).toBeFocused();
    await goBack(page);
    await expect.poll(() => getScrollOffset(page)).toBe(240);
  });

  await test.step("a reload restores the position", async () => {
    await page.reload();
    await expect(heading(page, /^Hello/)).toBeVisible();
    await expect.poll(() => getScrollOffset(page)).toBe(240);
  });

  await test.step("screens of the host and sub-pages of a remote do the same", async () => {
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
    const leaveDialog = page.getByRole("alertdialog");
    await expect(leaveDialog).toBeVisible();
    await expect.poll(() => getPath(page)).toBe("/add-secret");
    await leaveDialog.getByRole("button", { name: "Stay" }).click();
    await expect(leaveDialog).toBeHidden();
    await expect(page.getByLabel("Your secret")).toHaveValue("correct horse battery staple");
    expect(getPath(page)).toBe("/add-secret");

    await goBack(page);
    await leaveDialog.getByRole("button", { name: "Leave" }).click();
    await expect(heading(page, /^Hello/)).toBeFocused();
    expect(getPath(page)).toBe("/home");
  });

  await test.step("the menu of a small screen leads to the heading of the next", async () => {
    await page.setViewportSize({ width: 400, height: 700 });
    await page.getByRole("button", { name: "Open the menu" }).click();
    await page.getByRole("dialog", { name: "Menu" }).getByRole("link", { name: "Help" }).click();
    await expect(heading(page, "Help")).toBeFocused();
  });
});

test("previewed links leave nothing of their workers in the page", async ({ page }) => {
  await signUp(page, newAccount());
  const devtools = await page.context().newCDPSession(page);
  const countListeners = async (): Promise<number> => {
    await devtools.send("HeapProfiler.collectGarbage");
    return (await devtools.send("Memory.getDOMCounters")).jsEventListeners;
  };
  const navigateTo = async (to: string, name: string) => {
    await page.evaluate((address) => {
      history.pushState(null, "", address);
      dispatchEvent(new PopStateEvent("popstate"));
    }, to);
    await expect(heading(page, name)).toBeFocused();
  };
  const visitLink = async (times: number) => {
    for (let time = 0; time < times; time += 1) {
      await navigateTo(`/shared/${"A".repeat(22)}`, "Someone shared a secret with you");
      // its worker answered
      await expect(page.getByRole("heading", { level: 2, name: "Open the link again" })).toBeVisible();
      await navigateTo("/help", "Help");
    }
  };

  await visitLink(2); // what stays after the first time
  const listenersBefore = await countListeners();
  await visitLink(8);
  await expect.poll(countListeners).toBeLessThanOrEqual(listenersBefore + 2);
});
