import { expect, type Page } from "@playwright/test";

/**
 * Goes to a screen by the page's router, as links and the back button do: loading the page takes
 * far more time than showing a screen. A page that stands there already, or is empty, loads it.
 *
 * @param page shows no screen that asks before it is left
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
  // The new screen is there: its heading, or that of the old one where two screens share it, which
  // has the focus then.
  await expect(page.locator("h1:not([data-left]), h1:focus").first()).toBeVisible();
}
