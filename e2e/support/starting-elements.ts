import type { Locator, Page } from "@playwright/test";

/** Elements of the vault that have not shown their content yet. */
export function startingElements(page: Page): Locator {
  return page.locator('[data-started="false"]');
}
