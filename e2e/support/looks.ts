import { AxeBuilder } from "@axe-core/playwright";
import { expect, type Page } from "@playwright/test";

export type Look = readonly ["en" | "es", "light" | "dark"];

/**
 * Both languages and both themes at every run; `npm run test:all` takes the other two pairs too.
 */
export const looks: readonly Look[] = [
  ["en", "light"],
  ["es", "dark"],
  ...(process.env["RELICARIO_TESTS"] === "all"
    ? ([
        ["en", "dark"],
        ["es", "light"],
      ] as const)
    : []),
];

export const wide = { width: 1280, height: 900 };
export const narrow = { width: 320, height: 640 };

/** The next page that is loaded has this language and theme. */
export async function wear(page: Page, [language, theme]: Look): Promise<void> {
  await page.evaluate(
    ([chosen, dark]) => {
      localStorage.setItem("selectedLanguage", chosen);
      localStorage.setItem("isDarkMode", dark);
    },
    [language, String(theme === "dark")] as const,
  );
}

/** Judged at rest: what is still fading in has not the contrast that it will have. */
export async function expectAccessible(page: Page, where: string): Promise<void> {
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
  expect(violations.map(({ id, nodes }) => `${where} ${id}: ${nodes.map(({ html }) => html).join(" ")}`)).toEqual([]);
}

export async function expectNoSidewaysScroll(page: Page, where: string): Promise<void> {
  const overflow = await page.evaluate(
    () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
  );
  expect(overflow, `${where} scrolls sideways`).toBeLessThanOrEqual(0);
}
