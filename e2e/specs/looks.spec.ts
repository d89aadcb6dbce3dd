import { newAccount, signUp } from "../pages/account.ts";
import { goWithin } from "../pages/places.ts";
import { expectAccessible, expectNoSidewaysScroll, looks, narrow, wear, wide } from "../support/looks.ts";
import { expect, test } from "../support/portal-test.ts";

test.use({ contextOptions: { reducedMotion: "no-preference" } });

/** One of each area, and one of the host's own; all others stand in looks-of-all-routes. */
const routes = ["/add-secret", "/safeguard", "/people", "/settings/profile", "/status"];

/** Each route wide in one look and narrow in the next. */
test("a route of each area is accessible, wide and narrow, in both languages and themes", async ({ page }) => {
  await signUp(page, newAccount(), { at: "/help" });
  for (const look of looks) {
    await expect(page.locator("h1")).toBeVisible();
    await wear(page, look);
    await page.setViewportSize(looks.indexOf(look) % 2 === 0 ? wide : narrow);
    await page.goto("/help");
    await expect(page.locator("h1")).toBeVisible(); // the router is there
    for (const route of routes) {
      await test.step(`${route} (${look.join(", ")})`, async () => {
        await goWithin(page, route);
        await expect(page.locator("html")).toHaveAttribute("lang", look[0]);
        await expect(page.locator("html")).toHaveAttribute("data-theme", look[1]);
        await expect(page).toHaveTitle(/\S/);
        await expectAccessible(page, route);
        await expectNoSidewaysScroll(page, route);
      });
    }
  }
});
