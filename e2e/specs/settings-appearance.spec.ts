import { newAccount, signUp } from "../pages/account.ts";
import { expectAccessible, expectNoSidewaysScroll, applyAppearance, type Appearance } from "../support/appearance.ts";
import { expect, test } from "../support/portal-test.ts";
import { createReleaseTools } from "../support/releases.ts";
import { routes } from "../support/routes.ts";

const appearances: readonly Appearance[] = [
  ["en", "light"],
  ["es", "dark"],
  ["en", "dark"],
  ["es", "light"],
];
const widths = [320, 640, 1024, 1440];
const settingsRoutes = routes.filter((route) => route.startsWith("/settings/"));

test("all settings, also those of only some portals, are accessible at four widths, in both languages and themes @long", async ({
  page,
  portal,
}) => {
  test.setTimeout(900_000);
  const restore = await createReleaseTools(portal).patchDeployment({
    environment: "dev",
    features: { notifications: true, payments: true },
    payments: { url: "https://pay.example/account" },
  });
  try {
    await signUp(page, newAccount());
    for (const appearance of appearances) {
      await applyAppearance(page, appearance);
      for (const route of settingsRoutes) {
        await test.step(`${route} (${appearance.join(", ")})`, async () => {
          await page.goto(route);
          await expect(page).toHaveURL(new RegExp(`${route}$`)); // not redirected to the profile
          await expect(page.locator("html")).toHaveAttribute("lang", appearance[0]);
          await expect(page.locator("html")).toHaveAttribute("data-theme", appearance[1]);
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
