import { AxeBuilder } from "@axe-core/playwright";

import { newAccount, signUp } from "../pages/account.ts";
import { expect, test } from "../support/portal-test.ts";

const routes = ["/home", "/add-secret", "/secrets", "/recived", "/settings/profile", "/provide-image-recovery", "/welcome-recovery", "/safeguard", "/secret-landing", "/status", "/help", "/validate-email", "/_debug_flags_", "/shared/abcdefghijklmnopqrstuv"];

for (const [language, colorScheme] of [["en", "light"], ["es", "dark"]] as const) {
  test(`every screen is accessible and fits a narrow phone (${language}, ${colorScheme})`, async ({ page }) => {
    await signUp(page, newAccount());
    await page.addInitScript(
      ([chosen, dark]) => {
        localStorage.setItem("selectedLanguage", chosen);
        localStorage.setItem("isDarkMode", dark);
      },
      [language, String(colorScheme === "dark")] as const,
    );
    for (const route of routes) {
      await page.goto(route);
      await expect(page.getByRole("heading", { level: 1 })).toBeVisible();
      await expect(page.locator("html")).toHaveAttribute("lang", language);
      const { violations } = await new AxeBuilder({ page }).analyze();
      expect(violations.map(({ id, nodes }) => `${route} ${id}: ${nodes.map(({ html }) => html).join(" ")}`)).toEqual([]);
      await page.setViewportSize({ width: 320, height: 640 });
      const overflow = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
      expect(overflow, `${route} scrolls sideways at 320 px`).toBeLessThanOrEqual(0);
      await page.setViewportSize({ width: 1280, height: 900 });
    }
  });
}
