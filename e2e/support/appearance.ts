import { AxeBuilder } from "@axe-core/playwright";
import { expect, type Frame, type Page } from "@playwright/test";
import axeCore, { type AxeResults } from "axe-core";

import { startingElements } from "./starting-elements.ts";

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

export async function applyAppearance(page: Page, [language, theme]: Appearance): Promise<void> {
  await page.evaluate(
    ([languageCode, isDark]) => {
      localStorage.setItem("selectedLanguage", languageCode);
      localStorage.setItem("isDarkMode", isDark);
    },
    [language, String(theme === "dark")] as const,
  );
}

/**
 * Waits for data, elements and animations first: what is still fading in has too little contrast.
 */
export async function expectAccessible(page: Page, label: string): Promise<void> {
  await expect(page.locator("main [aria-busy='true']")).toHaveCount(0);
  await expect(startingElements(page)).toHaveCount(0);
  await page.waitForFunction(() =>
    document
      .getAnimations()
      .every(({ effect, playState }) => playState !== "running" || effect?.getComputedTiming().iterations === Infinity),
  );
  // Legacy mode, without an extra page for frames of other origins, in which it analyses nothing.
  const { violations } = await new AxeBuilder({ page })
    .options({ resultTypes: ["violations"] })
    .setLegacyMode()
    .analyze();
  const elementViolations = await Promise.all((await findElements(page)).map(analyzeElement));
  expect(
    [...violations, ...elementViolations.flat()].map(
      ({ id, nodes }) => `${label} ${id}: ${nodes.map(({ html }) => html).join(" ")}`,
    ),
  ).toEqual([]);
}

/** The vault's elements in a page. */
async function findElements(page: Page): Promise<readonly Frame[]> {
  const frames = await Promise.all(
    (await page.locator("iframe[data-vault-element]").elementHandles()).map((handle) => handle.contentFrame()),
  );
  return frames.filter((frame) => frame !== null);
}

/** In the frame, where its source was evaluated. */
declare const axe: typeof axeCore;

async function analyzeElement(frame: Frame): Promise<AxeResults["violations"]> {
  await frame.evaluate(axeCore.source);
  const { violations } = await frame.evaluate(() =>
    axe.run(document, {
      resultTypes: ["violations"],
      // an element is a part of the page, which has these
      rules: Object.fromEntries(
        ["landmark-one-main", "page-has-heading-one", "region"].map((rule) => [rule, { enabled: false }]),
      ),
    }),
  );
  return violations;
}

export async function expectNoSidewaysScroll(page: Page, label: string): Promise<void> {
  const overflow = await page.evaluate(
    () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
  );
  expect(overflow, `${label} scrolls sideways`).toBeLessThanOrEqual(0);
}
