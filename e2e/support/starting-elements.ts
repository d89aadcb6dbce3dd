import type { BrowserContext, Locator, Page } from "@playwright/test";

/** Elements of the vault that have not shown their content yet. */
export function startingElements(page: Page): Locator {
  return page.locator('[data-started="false"]');
}

/**
 * Acts on a page once no element of the vault starts in it, as a person does: what is below an
 * element moves when it shows its first content.
 */
export function actOnceStarted(context: BrowserContext): void {
  const watch = (page: Page): void => {
    void page.addLocatorHandler(startingElements(page).first(), () => Promise.resolve());
  };
  context.pages().forEach(watch);
  context.on("page", watch);
}
