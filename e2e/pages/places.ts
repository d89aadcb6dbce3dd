import { expect, type Page } from "@playwright/test";

/**
 * Goes to a screen by the page's router, as links and the back button do: loading the page takes far more time than
 * showing a screen. A page that stands there already, or is empty, loads it.
 *
 * @param page shows no screen that asks before it is left
 */
export async function goWithin(page: Page, path: string): Promise<void> {
  const { protocol, pathname, search } = new URL(page.url());
  if (protocol === "about:" || pathname + search === path) {
    await page.goto(path);
    return;
  }
  await page.evaluate((to) => {
    if (document.activeElement instanceof HTMLElement) document.activeElement.blur();
    history.pushState(null, "", to);
    dispatchEvent(new PopStateEvent("popstate"));
  }, path);
  await expect(page.locator("h1:focus")).toBeVisible(); // where keyboards and screen readers begin: the new screen is there
}
