import type { Page } from "@playwright/test";

/** A page of somebody who has seen all tours: none runs on its own. */
export async function withoutTours(page: Page): Promise<void> {
  await page.addInitScript(() => {
    localStorage.setItem("onboarding", "true");
    localStorage.setItem("toursSeen", '"all"');
  });
}
