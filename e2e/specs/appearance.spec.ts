import { newAccount, signUp } from "../pages/account.ts";
import { navigateInApp } from "../pages/navigation.ts";
import {
  expectAccessible,
  expectNoSidewaysScroll,
  appearances,
  narrowViewport,
  applyAppearance,
  wideViewport,
} from "../support/appearance.ts";
import { expect, test } from "../support/portal-test.ts";

test.use({ contextOptions: { reducedMotion: "no-preference" } });

/** One route of each area, and one of the host; `appearance-of-all-routes.spec.ts` has all. */
const routes = ["/add-secret", "/safeguard", "/people", "/settings/profile", "/status"];

/** Each route is wide in one appearance and narrow in the next. */
test("a route of each area is accessible, wide and narrow, in both languages and themes", async ({ page }) => {
  await signUp(page, newAccount(), { path: "/help" });
  for (const appearance of appearances) {
    await expect(page.locator("h1")).toBeVisible();
    await applyAppearance(page, appearance);
    await page.setViewportSize(appearances.indexOf(appearance) % 2 === 0 ? wideViewport : narrowViewport);
    await page.goto("/help");
    await expect(page.locator("h1")).toBeVisible(); // the router has started
    for (const route of routes) {
      await test.step(`${route} (${appearance.join(", ")})`, async () => {
        await navigateInApp(page, route);
        await expect(page.locator("html")).toHaveAttribute("lang", appearance[0]);
        await expect(page.locator("html")).toHaveAttribute("data-theme", appearance[1]);
        await expect(page).toHaveTitle(/\S/);
        await expectAccessible(page, route);
        await expectNoSidewaysScroll(page, route);
      });
    }
  }
});
