import type { Page } from "@playwright/test";

import { newAccount } from "../pages/account.ts";
import { disableTours } from "../support/onboarding.ts";
import { expect, test } from "../support/portal-test.ts";
import { sendProviderForm } from "../support/provider-form.ts";

test.use({ contextOptions: { reducedMotion: "no-preference" } });

/** Holds requests to this address from now on; returns a function that releases them. */
async function delayRequests(page: Page, address: RegExp): Promise<() => void> {
  let release: () => void = () => undefined;
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  await page.route(address, async (route) => {
    await released;
    await route.continue();
  });
  return release;
}

test("signing in says so over the whole page, and leads back to where the user wanted to go", async ({
  page,
  request,
}) => {
  const account = newAccount();
  await sendProviderForm(request, "sign-up", {
    username: account.userName,
    email: account.email,
    password: account.password,
  });
  await disableTours(page);

  await test.step("signing in says so over the whole page", async () => {
    const release = await delayRequests(page, /openid-configuration$/);
    await page.goto("/home", { waitUntil: "commit" });
    const overlay = page.getByRole("status");
    await expect(overlay).toHaveText("Signing you in");
    expect(await overlay.evaluate((element) => getComputedStyle(element).zIndex)).toBe("99");
    expect(await overlay.boundingBox()).toEqual({ x: 0, y: 0, width: 1280, height: 900 });
    release();
    await expect(page.getByLabel("User name or e-mail")).toBeVisible();
  });

  await test.step("signing in leads back to where the user wanted to go, whose code was loaded meanwhile", async () => {
    await page.goto("/settings/profile?from=mail");
    await page.getByLabel("User name or e-mail").fill(account.userName);
    await page.getByLabel("Password").fill(account.password);
    // The provider's response is held until the page has requested the code of that screen;
    // otherwise the test times out.
    const entryRequest = page.waitForRequest(/\/r\/settings\/[^/]+\/remoteEntry\.js$/);
    await page.route(/\/realms\/relicario\/token$/, async (route) => {
      await entryRequest;
      await route.continue();
    });
    await page.getByRole("button", { name: "Sign in" }).click();
    await expect(page.getByRole("heading", { level: 1, name: "Profile" })).toBeVisible();
    expect(new URL(page.url()).pathname + new URL(page.url()).search).toBe("/settings/profile?from=mail");
  });

  await test.step("coming back from the provider says so over the whole page until its answer is exchanged", async () => {
    const release = await delayRequests(page, /\/token$/);
    await page.evaluate(() => {
      sessionStorage.clear(); // this tab loses its session, the provider keeps it
    });
    await page.goto("/secrets", { waitUntil: "commit" });
    await page.waitForURL(/[?&]code=/, { waitUntil: "commit" });
    await expect(page.getByRole("status")).toHaveText("Signing you in");
    await expect(page.getByRole("heading", { level: 1 })).toBeHidden();
    release();
    await expect(page.getByRole("heading", { level: 1, name: "Secrets" })).toBeVisible();
    await expect(page.getByRole("status").filter({ hasText: "Signing you in" })).toBeHidden();
  });
});

test("texts are served by language and namespace, of every owner", async ({ request, portal }) => {
  for (const [language, namespace, text] of [
    ["en", "header", "Skip to the content"],
    ["es", "header", "Saltar al contenido"],
    ["es", "beta-home", "Hola"],
  ] as const) {
    const response = await request.get(`${portal.origin}/locales/${language}/${namespace}.json`, { maxRedirects: 0 });
    expect(response.status()).toBe(200);
    expect(response.headers()["content-type"]).toContain("application/json");
    expect(await response.text()).toContain(text);
  }
});
