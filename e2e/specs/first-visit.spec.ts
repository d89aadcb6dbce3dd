import type { CDPSession, Locator, Page } from "@playwright/test";

import { signUpByHand, newAccount, signUp } from "../pages/account.ts";
import { expect, test } from "../support/portal-test.ts";

test.use({ contextOptions: { reducedMotion: "no-preference" } });

const tourStep = (page: Page, title: string) => page.getByRole("dialog", { name: title, exact: true });
const celebration = (page: Page) => page.getByText("You know your way around.");
const readOnboarding = (page: Page) => page.evaluate(() => localStorage.getItem("onboarding"));

/**
 * Waits until the library has focused a step: before, it is invisible, and the page may still
 * scroll under it.
 */
async function waitForFocus(sheet: Locator): Promise<void> {
  await expect
    .poll(() => sheet.evaluate((element) => element.contains(document.activeElement)), "focus in the step")
    .toBe(true);
}

/** Checks each frame for drawn confetti, so that a slow machine cannot miss it. */
async function watchConfetti(page: Page): Promise<() => Promise<boolean>> {
  await page.evaluate(() => {
    const checkCanvas = () => {
      const canvas = document.querySelector<HTMLCanvasElement>("canvas[aria-hidden]");
      const pixels =
        canvas === null || canvas.width === 0
          ? undefined
          : canvas.getContext("2d")?.getImageData(0, 0, canvas.width, canvas.height).data;
      if (pixels?.some((value) => value !== 0) === true) document.documentElement.dataset["confetti"] = "drawn";
      else requestAnimationFrame(checkCanvas);
    };
    checkCanvas();
  });
  return async () => (await page.locator("html").getAttribute("data-confetti")) === "drawn";
}

async function getBoundingBox(
  element: Locator,
): Promise<{ readonly x: number; readonly y: number; readonly width: number; readonly height: number }> {
  return (await element.boundingBox()) ?? { x: Number.NaN, y: Number.NaN, width: Number.NaN, height: Number.NaN };
}

/** Swipes by touch as the browser does, which adds a little; the unit test checks the threshold. */
async function swipe(devtools: CDPSession, pixels: number): Promise<void> {
  await devtools.send("Input.synthesizeScrollGesture", {
    x: 200,
    y: 500,
    xDistance: pixels,
    gestureSourceType: "touch",
    preventFling: true,
  });
}

test("a first visit on a wide screen is led round the frame and celebrated; then Home is shown", async ({ page }) => {
  await page.setViewportSize({ width: 1280, height: 660 }); // lower than Home, so that the page could scroll
  await signUp(page, newAccount(), { tours: true });
  const confettiDrawn = await watchConfetti(page);
  await expect.poll(() => page.evaluate(() => document.documentElement.scrollHeight > innerHeight)).toBe(true);

  await test.step("nine steps, each next to its target: 380 px wide, with 10 px of light around it", async () => {
    const steps = [
      ["Home", "home"],
      ["Secrets", "secrets"],
      ["Shared with me", "received"],
      ["Add secret", "add"],
      ["Language", "language"],
      ["Light or dark", "theme"],
      ["Sign out", "logout"],
      ["The page", null],
      ["Help", "help"],
    ] as const;
    for (const [title, target] of steps) {
      const sheet = tourStep(page, title);
      await expect(sheet).toBeVisible();
      await expect.poll(async () => (await sheet.boundingBox())?.width).toBe(380);
      await waitForFocus(sheet);
      if (target !== null) {
        const spotlight = page.locator(".react-joyride__spotlight path").nth(1);
        const targetBox = await getBoundingBox(page.locator(`[data-tour="layout-${target}"]`));
        const expectedBox = [targetBox.x - 10, targetBox.y - 10, targetBox.width + 20, targetBox.height + 20];
        const deviation = async () => {
          const { x, y, width, height } = await getBoundingBox(spotlight);
          return Math.max(
            ...[x, y, width, height].map((side, index) => Math.abs(side - (expectedBox[index] ?? Number.NaN))),
          );
        };
        await expect.poll(deviation, `light at ${title}`).toBeLessThan(1); // the library rounds to whole pixels
      }
      expect(await page.evaluate(() => scrollY), `page at ${title}`).toBe(0);
      expect(await readOnboarding(page)).toBeNull();
      await sheet.getByRole("button", { name: /^(Next|Done)$/ }).click();
    }
  });

  await test.step("the end of the tour is celebrated, and remembered", async () => {
    await expect(celebration(page)).toBeVisible();
    await expect.poll(() => readOnboarding(page)).toBe("true");
    await expect(celebration(page)).toBeHidden();
    expect(await confettiDrawn()).toBe(true);
  });

  await test.step("on the next visit to Home, its own tour finds both of its targets", async () => {
    await page.getByRole("link", { name: "Secrets", exact: true }).click();
    await page.getByRole("link", { name: "Home", exact: true }).click();
    await expect(tourStep(page, "Protect something important")).toContainText("1 of 2");
    await waitForFocus(tourStep(page, "Protect something important"));
    await page.getByRole("button", { name: "Next" }).click();
    await expect(tourStep(page, "News and advice")).toContainText("2 of 2");
    await waitForFocus(tourStep(page, "News and advice"));
    await page.getByRole("button", { name: "Done" }).click();
    await expect(tourStep(page, "News and advice")).toBeHidden();
    await expect(celebration(page)).toBeHidden();
  });

  await test.step("no tour starts again automatically, and Help has them all", async () => {
    await page.reload();
    await page.getByRole("link", { name: "Help", exact: true }).click();
    const tours = page.getByRole("button", { name: /^Start the tour: / });
    await expect(tours.filter({ hasText: "Around the portal" })).toHaveCount(1);
    await expect(tours.filter({ hasText: ": Home" })).toHaveCount(1);
    await tours.filter({ hasText: "Around the portal" }).click();
    await expect(tourStep(page, "Home")).toContainText("1 of 9");
    await page.keyboard.press("Escape");
    await expect(tourStep(page, "Home")).toBeHidden();
  });
});

test.describe("on a phone", () => {
  test.use({ viewport: { width: 390, height: 844 }, hasTouch: true });

  test("a first visit begins with three slides to swipe; finishing them starts the tour", async ({ page, context }) => {
    await signUpByHand(page, newAccount(), { tours: true });
    const devtools = await context.newCDPSession(page);
    const title = page.getByRole("dialog").getByRole("heading");
    await expect(title).toHaveText("Protect it with a picture");
    await swipe(devtools, -40);
    await expect(title).toHaveText("Your picture stays on your device");
    await swipe(devtools, 40);
    await expect(title).toHaveText("Protect it with a picture");
    await page.getByRole("button", { name: "Slide 3 of 3" }).tap();
    await expect(title).toHaveText("The picture opens it again");
    expect(await readOnboarding(page)).toBeNull();
    await page.getByRole("button", { name: "Finish" }).tap();

    for (const name of ["Home", "Secrets", "Add secret", "Shared with me", "Sign out", "Everything else"]) {
      const sheet = tourStep(page, name);
      await waitForFocus(sheet);
      const box = await sheet.boundingBox();
      expect(
        Math.min(box?.x ?? -1, 390 - (box?.x ?? 0) - (box?.width ?? 390)),
        `${name} fits the screen`,
      ).toBeGreaterThanOrEqual(0);
      await sheet.getByRole("button", { name: /^(Next|Done)$/ }).tap();
    }
    await expect(celebration(page)).toBeVisible();
    await expect.poll(() => readOnboarding(page)).toBe("true");
  });

  test("skipping the slides is remembered, and no tour follows", async ({ page }) => {
    await signUpByHand(page, newAccount(), { tours: true });
    await page.getByRole("button", { name: "Skip" }).tap();
    await expect.poll(() => readOnboarding(page)).toBe("true");
    await page.reload();
    await expect(page.getByRole("heading", { level: 1, name: /hello/i })).toBeVisible();
    await expect(page.getByRole("button", { name: "Skip" })).toBeHidden();
  });
});
