import { AxeBuilder } from "@axe-core/playwright";
import { expect, type Page } from "@playwright/test";

export type Appearance = readonly ["en" | "es", "light" | "dark"];

/**
 * Both languages and both themes at every run; `npm run test:all` takes the other two pairs too.
 */
export const appearances: readonly Appearance[] = [
  ["en", "light"],
  ["es", "dark"],
  ...(process.env["RELICARIO_TESTS"] === "all"
    ? ([
        ["en", "dark"],
        ["es", "light"],
      ] as const)
    : []),
];

export const wideViewport = { width: 1280, height: 900 };
export const narrowViewport = { width: 320, height: 640 };

/** The next page that is loaded has this language and theme. */
export async function applyAppearance(page: Page, [language, theme]: Appearance): Promise<void> {
  await page.evaluate(
    ([languageCode, isDark]) => {
      localStorage.setItem("selectedLanguage", languageCode);
      localStorage.setItem("isDarkMode", isDark);
    },
    [language, String(theme === "dark")] as const,
  );
}

/** Judged at rest: what is still fading in has not the contrast that it will have. */
export async function expectAccessible(page: Page, label: string): Promise<void> {
  await page.waitForFunction(() =>
    document
      .getAnimations()
      .every(({ effect, playState }) => playState !== "running" || effect?.getComputedTiming().iterations === Infinity),
  );
  // Without axe's page of its own for what frames of other origins found: the portal has none that
  // shows anything.
  const { violations } = await new AxeBuilder({ page })
    .options({ resultTypes: ["violations"] })
    .setLegacyMode()
    .analyze();
  expect(violations.map(({ id, nodes }) => `${label} ${id}: ${nodes.map(({ html }) => html).join(" ")}`)).toEqual([]);
}

export async function expectNoSidewaysScroll(page: Page, label: string): Promise<void> {
  const overflow = await page.evaluate(
    () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
  );
  expect(overflow, `${label} scrolls sideways`).toBeLessThanOrEqual(0);
}
