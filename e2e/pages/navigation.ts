import { expect, type Page } from "@playwright/test";

/**
 * Goes to a screen by the page's router, which is far faster than loading the page. Loads the page
 * if it is empty or already at that path.
 *
 * @param page must not show a screen that asks before it is left
 */
export async function navigateInApp(page: Page, path: string): Promise<void> {
  const { protocol, pathname, search } = new URL(page.url());
  if (protocol === "about:" || pathname + search === path) {
    await page.goto(path);
    return;
  }
  await page.evaluate((to) => {
    if (document.activeElement instanceof HTMLElement) document.activeElement.blur();
    document.querySelector("h1")?.setAttribute("data-left", "");
    history.pushState(null, "", to);
    dispatchEvent(new PopStateEvent("popstate"));
  }, path);
  // The new screen's heading, or the old one with the focus where both screens share it.
  await expect(page.locator("h1:not([data-left]), h1:focus").first()).toBeVisible();
}
