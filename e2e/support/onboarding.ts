import type { Page } from "@playwright/test";

/** Marks all tours as seen, so that none starts on its own. */
export async function disableTours(page: Page): Promise<void> {
  await page.addInitScript(markToursSeen);
}

/** Runs in the page before its own scripts. */
export function markToursSeen(): void {
  // the browser's own page in a frame whose server is down has no storage
  if (!location.protocol.startsWith("http")) return;
  localStorage.setItem("onboarding", "true");
  localStorage.setItem("toursSeen", '"all"');
}
