import { newAccount, signUp } from "../pages/account.ts";
import { navigateInApp } from "../pages/navigation.ts";
import { answerDeviceQuestion, openList, protect } from "../pages/secrets.ts";
import {
  expectAccessible,
  expectNoSidewaysScroll,
  appearances,
  narrowViewport,
  applyAppearance,
  wideViewport,
} from "../support/appearance.ts";
import { disableTours } from "../support/onboarding.ts";
import { photographs } from "../support/photographs.ts";
import { expect, test } from "../support/portal-test.ts";
import { routes } from "../support/routes.ts";

test.use({ contextOptions: { reducedMotion: "no-preference" } });

/** Each route is wide in one appearance and narrow in the next. */
test("every route is accessible, wide and narrow, in both languages and themes", async ({ page }) => {
  test.setTimeout(900_000);
  await signUp(page, newAccount());
  await protect(page, {
    text: "a text",
    title: "Looked at",
    tags: ["looks"],
    image: { file: photographs.small, passphrase: null },
  });
  await answerDeviceQuestion(page, "My own device");
  await openList(page);
  await page.getByRole("button", { name: /More for/ }).click();
  await page.getByRole("menuitem", { name: "Edit" }).click();
  await expect(page).toHaveURL(/\/edit-secret\//);
  const secretId = new URL(page.url()).pathname.split("/")[2] ?? "";

  for (const appearance of appearances) {
    await applyAppearance(page, appearance);
    await page.setViewportSize(appearances.indexOf(appearance) % 2 === 0 ? wideViewport : narrowViewport);
    await page.goto("/help");
    await expect(page.locator("h1")).toBeVisible(); // the router has started
    for (const route of routes) {
      await test.step(`${route} (${appearance.join(", ")})`, async () => {
        await navigateInApp(page, route.replace(":id", secretId));
        await expect(page.locator("html")).toHaveAttribute("lang", appearance[0]);
        await expect(page.locator("html")).toHaveAttribute("data-theme", appearance[1]);
        await expect(page).toHaveTitle(/\S/);
        await expectAccessible(page, route);
        await expectNoSidewaysScroll(page, route);
      });
    }
  }
});

test("what opens over a screen is accessible in both languages and themes", async ({ page }) => {
  await signUp(page, newAccount(), { tours: true });
  const dialog = page.getByRole("dialog");
  for (const appearance of appearances) {
    const label = appearance.join(", ");
    await applyAppearance(page, appearance);
    const openAsFirstVisit = async (size: typeof wideViewport) => {
      await page.setViewportSize(size);
      await page.evaluate(() => {
        localStorage.removeItem("onboarding");
      });
      await page.goto("/home");
      await expect(dialog).toBeVisible();
    };

    await openAsFirstVisit(wideViewport);
    await expectAccessible(page, `the tour (${label})`);
    await page.keyboard.press("Escape");
    await expect(dialog).toBeHidden();
    await page.locator("[data-tour='layout-logout']").click();
    await expect(dialog).toBeVisible();
    await expectAccessible(page, `the question before logging out (${label})`);

    await openAsFirstVisit(narrowViewport);
    await expectAccessible(page, `the slides at 320 px (${label})`);
    await expectNoSidewaysScroll(page, "the slides at 320 px");
    await page.keyboard.press("Escape");
    await expect(dialog).toBeHidden();
    await page.locator("[data-tour='mobile-menu']").click();
    await expect(dialog).toBeVisible();
    await expectAccessible(page, `the menu at 320 px (${label})`);
    await expectNoSidewaysScroll(page, "the menu at 320 px");
  }
});

test("screens before the provider's form are accessible in both languages and themes", async ({ browser, portal }) => {
  for (const [language, theme] of appearances) {
    const context = await browser.newContext({
      baseURL: portal.origin,
      viewport: narrowViewport,
      locale: language === "en" ? "en-GB" : "es-ES",
      colorScheme: theme,
    });
    const page = await context.newPage();
    await page.goto("/");
    await expect(page.getByRole("heading", { level: 1 })).toBeVisible();
    await expect(page.locator("html")).toHaveAttribute("lang", language);
    await expectAccessible(page, `signing in (${language}, ${theme})`);
    await context.close();
  }
});

test("a visitor who is not signed in meets accessible pages", async ({ page }) => {
  await disableTours(page);
  for (const appearance of appearances) {
    await page.goto("/secret-landing");
    await applyAppearance(page, appearance);
    for (const route of ["/secret-landing", "/shared/abcdefghijklmnopqrstuA", "/request/abcdefghijklmnopqrstuA"]) {
      await page.setViewportSize(wideViewport);
      await page.goto(route);
      await expect(page.getByRole("heading", { level: 1 })).toBeVisible();
      await expectAccessible(page, `${route}, signed out`);
      await page.setViewportSize(narrowViewport);
      await expectAccessible(page, `${route} at 320 px, signed out`);
      await expectNoSidewaysScroll(page, `${route} at 320 px, signed out`);
    }
  }
});
