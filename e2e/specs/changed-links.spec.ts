import type { Browser, BrowserContextOptions, Page } from "@playwright/test";

import { newAccount, signIn, signUp } from "../pages/account.ts";
import { answerDeviceQuestion, openList, protect, revealSecret, row } from "../pages/secrets.ts";
import { openShare, share } from "../pages/sharing.ts";
import { expectAccessible } from "../support/appearance.ts";
import { photographs } from "../support/photographs.ts";
import { expect, test } from "../support/portal-test.ts";
import { createSentinel } from "../support/sentinel.ts";

const title = `Attic ${createSentinel()}`;
const text = `under the beam ${createSentinel()}`;

/** Browsers that block site data throw when a page reads these. */
function refuseStorage(): void {
  for (const name of ["localStorage", "sessionStorage", "indexedDB"]) {
    Object.defineProperty(window, name, {
      get: () => {
        throw new DOMException("The operation is insecure.", "SecurityError");
      },
    });
  }
}

interface Visit {
  readonly page: Page;
  /** Addresses of all requests so far. */
  readonly addresses: readonly string[];
}

async function visit(browser: Browser, options: BrowserContextOptions): Promise<Visit> {
  const page = await (await browser.newContext({ locale: "en-GB", ...options })).newPage();
  const addresses: string[] = [];
  page.on("request", (request) => addresses.push(request.url()));
  return { page, addresses };
}

async function expectOpens({ page }: Visit, link: string): Promise<void> {
  await page.goto(link);
  await openShare(page);
  await expect(page.getByRole("heading", { level: 1, name: title })).toBeVisible({ timeout: 60_000 });
  expect(await revealSecret(page)).toBe(text);
}

test("a link opens as it arrives, where storage is refused, and says that its key was exposed", async ({
  page,
  browser,
  portal: { origin: baseURL },
}) => {
  await signUp(page, newAccount());
  await protect(page, { text, title, tags: [], image: { file: photographs.small, passphrase: null } });
  await answerDeviceQuestion(page, "My own device");
  await openList(page);
  await row(page, title)
    .getByRole("button", { name: /^More for/ })
    .click();
  await page.getByRole("menuitem", { name: "Share" }).click();
  await expect(page).toHaveURL(/\/share\/[\w-]{36}$/);
  const secretId = new URL(page.url()).pathname.split("/")[2] ?? "";
  const link = await share(page, secretId, { audience: "public", opener: photographs.small });
  const { pathname } = new URL(link);
  const key = link.split("#s=")[1] ?? "";
  expect(key).toHaveLength(43);

  await test.step("a link opens with trailing text from a message, and with its path in capitals", async () => {
    const visitor = await visit(browser, { baseURL });
    const changedLink = link.replace("/shared/", "/Shared/").replace("#s=", "#s=3D");
    await expectOpens(visitor, `${changedLink.slice(0, -20)}%0D%0A${changedLink.slice(-20)}%C2%A0).`);
    expect(new URL(visitor.page.url()).pathname).toBe(pathname);
    expect(visitor.addresses.filter((address) => !address.includes("#") && address.includes(key.slice(0, 20)))).toEqual(
      [],
    );
    await expect(visitor.page.getByText("has been sent to servers")).toHaveCount(0);
  });

  await test.step("a link with its number sign encoded has sent its key, and the page says so", async () => {
    for (const [locale, said] of [
      ["en-GB", "The key of this link has been sent to servers"],
      ["es-ES", "La clave de este enlace ha llegado a servidores"],
    ] as const) {
      const visitor = await visit(browser, { baseURL, locale });
      await visitor.page.goto(link.replace("#", "%23"));
      await expect(visitor.page.getByRole("alert").getByText(said)).toBeVisible();
      await expectAccessible(visitor.page, `an exposed link, ${locale}`);
      expect(visitor.page.url()).toBe(`${baseURL}${pathname}`);
      expect(visitor.addresses.filter((address) => address.includes(key))).toHaveLength(1); // before any code ran
    }
  });

  await test.step("where the browser refuses storage", async () => {
    const visitor = await visit(browser, { baseURL });
    await visitor.page.addInitScript(refuseStorage);
    await expectOpens(visitor, link);
    expect(visitor.page.url()).toBe(`${baseURL}${pathname}`);
    await visitor.page.evaluate((address) => {
      location.href = address; // as pasted into the same tab: without a new page
    }, link);
    await openShare(visitor.page);
    await expect(visitor.page.getByRole("heading", { level: 1, name: title })).toBeVisible({ timeout: 60_000 });
    expect(await revealSecret(visitor.page)).toBe(text);
    expect(visitor.page.url()).toBe(`${baseURL}${pathname}`);
    await visitor.page.getByRole("button", { name: "Sign in" }).first().click();
    await expect(visitor.page.getByRole("alert")).toContainText("does not let this site store data");
    await expectAccessible(visitor.page, "signing in without storage");
  });
});

test("an address with two slashes, or a vendor that is none, is the portal's", async ({
  page,
  portal: { origin: baseURL },
}) => {
  await signUp(page, newAccount());
  await page.goto(`${baseURL}//secrets`);
  await expect(page.getByRole("heading", { level: 1, name: "Secrets" })).toBeVisible();
  expect(page.url()).toBe(`${baseURL}/secrets`);
  await page.goto("/home#vendorId=a%20b");
  await expect.poll(() => page.url()).toBe(`${baseURL}/home`);
  await expect(page.getByRole("heading", { level: 1 })).toBeVisible();
  await expect(page.getByRole("alert")).toHaveCount(0);
  expect(await page.evaluate(() => sessionStorage.getItem("vendorId"))).toBeNull();
});

test("a clock that is a day ahead or behind is reported, next to the service's time", async ({
  browser,
  portal: { origin: baseURL },
}) => {
  const dayMs = 86_400_000;
  const account = newAccount();
  await signUp((await visit(browser, { baseURL })).page, account);
  await test.step("a clock ahead is not reported as a sign-in that has ended", async () => {
    const { page } = await visit(browser, { baseURL });
    await page.clock.setSystemTime(Date.now() + dayMs);
    await signIn(page, account, { path: "/home" });
    await expect(page.getByRole("alert")).toContainText("This device's clock is wrong");
    await expect(page.getByText("Your sign-in has ended", { exact: true })).toHaveCount(0);
    await expectAccessible(page, "a clock that is ahead");
  });

  await test.step("a clock behind is not reported as an unsigned document", async () => {
    const { page } = await visit(browser, { baseURL });
    await page.clock.setSystemTime(Date.now() - dayMs);
    await page.goto("/");
    const [english, spanish] = [page.getByRole("alert").first(), page.getByRole("alert").last()];
    await expect(english).toContainText("This device's clock is wrong: it shows");
    await expect(spanish).toContainText("El reloj de este dispositivo no está en hora");
    await page.clock.setSystemTime(Date.now() + 2 * dayMs); // the clock is set
    await page.clock.setSystemTime(Date.now());
    await page.getByRole("button", { name: "Try again" }).click();
    await expect(english).toHaveCount(0);
  });
});
