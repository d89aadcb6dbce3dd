import type { Page } from "@playwright/test";

/** A page of somebody who has seen all tours: none runs on its own. */
export async function disableTours(page: Page): Promise<void> {
  await page.addInitScript(markToursSeen);
}

/** Runs in the page before its own scripts. */
export function markToursSeen(): void {
  // the browser's own page in a frame whose server is away has no storage
  if (!location.protocol.startsWith("http")) return;
  localStorage.setItem("onboarding", "true");
  localStorage.setItem("toursSeen", '"all"');
}
