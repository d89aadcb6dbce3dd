import type { Locator, Page } from "@playwright/test";

import { newAccount, signUp } from "../pages/account.ts";
import { expect, test } from "../support/portal-test.ts";

test.use({ contextOptions: { reducedMotion: "no-preference" } });

const measureWidth = async (element: Locator) => Math.round((await element.boundingBox())?.width ?? 0);
const sidebar = (page: Page) => page.getByRole("banner");

test("the frame has the sizes of the specification, works by keyboard, and keeps what a link's fragment carries", async ({
  page,
}) => {
  const account = { ...newAccount(), userName: `maria-los-angeles-${newAccount().userName}` };
  await signUp(page, account);

  await test.step("the whole frame is reachable by keyboard, and shows the focus", async () => {
    const expected = [
      "Skip to the content",
      "Home",
      "Secrets",
      "Shared with me",
      "Add secret",
      "Settings",
      "Help",
      "Feedback",
      "English",
      "Dark theme",
      "Collapse menu",
      "Sign out",
    ];
    const focusedNames: string[] = [];
    for (const _ of expected) {
      await page.keyboard.press("Tab");
      const focused = page.locator(":focus");
      focusedNames.push((await focused.innerText()).split("\n")[0] ?? "");
      expect(
        await focused.evaluate((element) => getComputedStyle(element).outlineStyle),
        `focus on ${focusedNames.at(-1) ?? ""}`,
      ).toBe("solid");
    }
    expect(focusedNames).toEqual(expected);

    await page.keyboard.press("Enter");
    const dialog = page.getByRole("dialog", { name: "Sign out?" });
    await expect(dialog).toBeVisible();
    for (let presses = 0; presses < 5; presses++) {
      await page.keyboard.press("Tab");
      expect(await dialog.evaluate((element) => element.contains(document.activeElement))).toBe(true);
    }
    await page.keyboard.press("Escape");
    await expect(dialog).toBeHidden();
    await expect(page.getByRole("button", { name: /^Sign out/ })).toBeFocused();
  });

  await test.step("what a fragment carries is kept for the session, and leaves address and history", async () => {
    const navigations: string[] = [];
    page.on("request", (request) => {
      if (request.isNavigationRequest() && request.frame() === page.mainFrame()) navigations.push(request.url());
    });
    await page.goto("/secrets#s=secret-1&n=name-1&id=id-1&recoverId=recover-1&vendorId=relicario");
    await expect(page.getByRole("heading", { level: 1, name: "Secrets" })).toBeVisible();
    await expect.poll(() => new URL(page.url()).hash).toBe("");
    // opened, and reloaded
    expect(navigations.map((url) => new URL(url).pathname)).toEqual(["/secrets", "/secrets"]);
    const storedValues = await page.evaluate(() =>
      Object.fromEntries(["s", "n", "id", "recoverId", "vendorId"].map((name) => [name, sessionStorage.getItem(name)])),
    );
    expect(storedValues).toMatchObject({ s: null, n: null, id: "id-1", vendorId: "relicario" });
    expect(await page.evaluate(() => JSON.stringify([sessionStorage, localStorage]))).not.toMatch(/secret-1|name-1/);

    await page.getByRole("link", { name: "Settings" }).first().click();
    await expect(page.getByRole("heading", { level: 1, name: "Profile" })).toBeVisible();
    await page.goBack();
    await expect(page.getByRole("heading", { level: 1, name: "Secrets" })).toBeVisible();
    expect(page.url()).not.toContain("secret-1");
  });

  await test.step("a sidebar of 208 px with the logo and a name that is cut at about 115 px", async () => {
    await expect.poll(() => measureWidth(sidebar(page))).toBe(208);
    await expect(sidebar(page).getByText("Relicario", { exact: true })).toBeVisible();
    const name = sidebar(page).getByTitle(account.userName);
    expect(await measureWidth(name)).toBeLessThanOrEqual(115);
    expect(await name.evaluate((element) => element.scrollWidth > element.clientWidth)).toBe(true);
  });

  await test.step("a narrow sidebar of 64 px has icons with tooltips", async () => {
    await page.getByRole("button", { name: "Collapse menu" }).click();
    await expect.poll(() => measureWidth(sidebar(page))).toBe(64);
    await page.getByRole("link", { name: "Secrets", exact: true }).hover();
    await expect(page.getByRole("tooltip")).toHaveText("Secrets");
  });

  await test.step("from 640 px on it is there, below two bars replace it", async () => {
    await page.setViewportSize({ width: 640, height: 800 });
    await expect(page.getByRole("button", { name: "Open the menu" })).toBeHidden();
    await page.setViewportSize({ width: 639, height: 800 });
    await expect(page.getByRole("button", { name: "Open the menu" })).toBeVisible();
    await expect(sidebar(page).getByText("Relicario", { exact: true })).toBeVisible();
    const bar = page.getByRole("navigation", { name: "Main navigation" });
    const findBottom = async (): Promise<number> => {
      const box = await bar.boundingBox();
      return Math.round((box?.y ?? 0) + (box?.height ?? 0));
    };
    await expect.poll(findBottom).toBe(800);
  });

  await test.step("the menu covers the screen and has language, theme and logging out", async () => {
    await page.getByRole("button", { name: "Open the menu" }).click();
    const menu = page.getByRole("dialog", { name: "Menu" });
    await expect.poll(async () => await menu.boundingBox()).toEqual({ x: 0, y: 0, width: 639, height: 800 });
    await menu.getByRole("button", { name: "Dark theme" }).click();
    await expect(page.locator("html")).toHaveAttribute("data-theme", "dark");
    await menu.getByRole("button", { name: /Cambiar a español/ }).click();
    await expect(page.locator("html")).toHaveAttribute("lang", "es");
    await page
      .getByRole("button", { name: /Cerrar sesión/ })
      .last()
      .click();
    await expect(page.getByRole("dialog", { name: "¿Cerrar sesión?" })).toBeVisible();
  });
});
