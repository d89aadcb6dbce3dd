import { newAccount, signUp } from "../pages/account.ts";
import { expectAccessible, expectNoSidewaysScroll, wear, type Look } from "../support/looks.ts";
import { expect, test } from "../support/portal-test.ts";
import { releasesOf } from "../support/releases.ts";
import { routes } from "../support/routes.ts";

const looks: readonly Look[] = [
  ["en", "light"],
  ["es", "dark"],
  ["en", "dark"],
  ["es", "light"],
];
const widths = [320, 640, 1024, 1440];
const pages = routes.filter((route) => route.startsWith("/settings/"));

test("all settings, those too that only some portals show, are accessible at four widths, in both languages and themes @long", async ({
  page,
  portal,
}) => {
  test.setTimeout(900_000);
  const restore = await releasesOf(portal).replaceDocument({
    environment: "dev",
    features: { notifications: true, payments: true },
    payments: { url: "https://pay.example/account" },
  });
  try {
    await signUp(page, newAccount());
    for (const look of looks) {
      await wear(page, look);
      for (const route of pages) {
        await test.step(`${route} (${look.join(", ")})`, async () => {
          await page.goto(route);
          await expect(page).toHaveURL(new RegExp(`${route}$`)); // shown, and not led to the profile
          await expect(page.locator("html")).toHaveAttribute("lang", look[0]);
          await expect(page.locator("html")).toHaveAttribute("data-theme", look[1]);
          await expect(page.locator("h1")).toBeVisible();
          for (const width of widths) {
            await page.setViewportSize({ width, height: 900 });
            await expectAccessible(page, `${route} at ${String(width)}`);
            await expectNoSidewaysScroll(page, `${route} at ${String(width)}`);
          }
        });
      }
    }
  } finally {
    await restore();
  }
});
