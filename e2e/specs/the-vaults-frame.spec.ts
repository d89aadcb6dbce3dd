import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";

import { chromium, type Locator, type Page, type Request } from "@playwright/test";

import { newAccount, signUp } from "../pages/account.ts";
import { choosePicture, fillInField, pictureField } from "../pages/picture-field.ts";
import { answerDeviceQuestion, protect, row, showPicture } from "../pages/secrets.ts";
import { createStoryLaunchOptions } from "../support/browser.ts";
import { photographs } from "../support/photographs.ts";
import { expect, test } from "../support/portal-test.ts";
import { requireVaultFrame } from "../support/vault-origin.ts";
import { actOnceStarted } from "../support/starting-elements.ts";

const mainArea = (page: Page): Locator => page.getByRole("main");
const failureNotice = (page: Page): Locator =>
  mainArea(page).getByText("The part that encrypts and opens secrets did not load").first();

const protectNote = (page: Page): Promise<void> =>
  protect(page, {
    text: "kept by the vault",
    title: "Kept",
    tags: [],
    image: { file: photographs.small, passphrase: null },
  });

const expectLocked = async (page: Page): Promise<void> => {
  await expect(mainArea(page).getByRole("link", { name: "Unlock with your picture" })).toBeVisible({
    timeout: 45_000, // of a frame that does not answer the page hears by pings
  });
};

const unlock = async (page: Page): Promise<void> => {
  await mainArea(page).getByRole("link", { name: "Unlock with your picture" }).click();
  await showPicture(page, photographs.small);
  await expect(row(page, "Kept")).toBeVisible({ timeout: 60_000 });
};

test("a vault that cannot be reached is said where it is needed, and trying again starts it", async ({
  page,
  context,
  portal,
}) => {
  await signUp(page, newAccount());
  const vaultAddresses = `${portal.vaultOrigin}/**`;
  for (const cut of [
    () => context.route(vaultAddresses, (route) => route.abort("connectionrefused")),
    () => context.route(vaultAddresses, (route) => route.fulfill({ status: 502, body: "Bad Gateway" })),
    () => context.route(/\/static\/controller\.[0-9a-f]+\.js$/, (route) => route.abort()),
    () => context.route(/\/vault-controller\.js$/, (route) => route.abort()),
  ]) {
    await cut();
    await page.goto("/secrets");
    await expect(failureNotice(page)).toBeVisible();
    await page.getByRole("banner").getByRole("link", { name: "Help" }).click();
    await expect(page.getByRole("heading", { level: 1, name: "Help" })).toBeVisible(); // the rest works
    await page.goBack();
    await expect(failureNotice(page)).toBeVisible();
    await context.unrouteAll();
    await mainArea(page).getByRole("button", { name: "Try again" }).first().click();
    await expect(failureNotice(page)).toBeHidden();
    await expect(mainArea(page).getByText("You have no secrets yet")).toBeVisible();
  }
});

test("a frame whose loading was stopped is tried again", async ({ page, context, portal }) => {
  await signUp(page, newAccount());
  await context.route(`${portal.vaultOrigin}/controller*`, () => undefined); // no answer
  const pendingRequests = new Set<Request>();
  page.on("request", (request) => pendingRequests.add(request));
  page.on("requestfinished", (request) => pendingRequests.delete(request));
  page.on("requestfailed", (request) => pendingRequests.delete(request));
  await page.goto("/secrets", { waitUntil: "commit" });
  await expect(page.getByRole("heading", { level: 1, name: "Secrets" })).toBeVisible();
  await expect // only the frame is still loading: a script that was stopped needs another page
    .poll(() => [...pendingRequests].map((request) => new URL(request.url()).pathname))
    .toEqual(["/controller"]);
  await page.evaluate(() => {
    window.stop(); // as oidc-client-ts does when a redirect to the provider fails
  });
  await context.unrouteAll();
  await expect(failureNotice(page)).toBeVisible({ timeout: 40_000 });
  await mainArea(page).getByRole("button", { name: "Try again" }).first().click();
  await expect(mainArea(page).getByText("You have no secrets yet")).toBeVisible();
});

test("where its frame is navigated, removed or dead, the page is locked, and another frame unlocks it", async ({
  page,
}) => {
  await signUp(page, newAccount());
  await protectNote(page);
  await answerDeviceQuestion(page, "A shared device");
  await page.goto("/secrets");
  await unlock(page);
  const ends: Readonly<Record<string, () => Promise<unknown>>> = {
    navigated: () =>
      requireVaultFrame(page).evaluate(() => {
        location.reload();
      }),
    "navigated elsewhere": () =>
      page.evaluate(() => {
        const frame = document.querySelector<HTMLIFrameElement>("iframe[title=vault]");
        if (frame !== null) frame.src = "about:blank";
      }),
    removed: () => page.evaluate(() => document.querySelector("iframe[title=vault]")?.remove()),
    "dead, as after a crash": () =>
      requireVaultFrame(page).evaluate(() => {
        // hears nothing, and is not heard
        Reflect.defineProperty(globalThis, "parent", { value: { postMessage: () => undefined } });
      }),
  };
  for (const [name, end] of Object.entries(ends)) {
    await test.step(name, async () => {
      await end();
      await expectLocked(page);
      await expect(row(page, "Kept")).toBeHidden();
      await unlock(page);
    });
  }
});

test("an element in use clears itself once the vault's frame is gone, and the form keeps its title", async ({
  page,
}) => {
  page.on("dialog", (dialog) => dialog.accept()); // leaves the page without saving
  await signUp(page, newAccount());
  const ends: Readonly<Record<string, () => Promise<unknown>>> = {
    removed: () => page.evaluate(() => document.querySelector("iframe[title=vault]")?.remove()),
    reloaded: () =>
      requireVaultFrame(page).evaluate(() => {
        location.reload();
      }),
  };
  for (const [name, end] of Object.entries(ends)) {
    await test.step(name, async () => {
      await page.goto("/add-secret");
      await page.getByLabel("Title").fill("typed title");
      await choosePicture(page, photographs.small);
      await fillInField(page, "Passphrase", "four words");
      const passphrase = pictureField(page).getByRole("textbox", { name: "Passphrase", exact: true });
      await end();
      await expect(passphrase).toBeHidden({ timeout: 10_000 }); // of a removed frame the page hears by pings
      await choosePicture(page, photographs.small); // in another element
      await expect(passphrase).toBeVisible();
      await expect(page.getByLabel("Title")).toHaveValue("typed title");
    });
  }
});

test("two tabs share the vault's storage: a lock in one locks the other", async ({ page, context }) => {
  await signUp(page, newAccount());
  await protectNote(page);
  await answerDeviceQuestion(page, "My own device");
  await page.goto("/secrets");
  await expect(row(page, "Kept")).toBeVisible();
  const secondPage = await context.newPage();
  await secondPage.goto("/secrets");
  await expect(row(secondPage, "Kept")).toBeVisible();
  await secondPage.getByRole("button", { name: "Lock", exact: true }).click();
  await expectLocked(page);
  await expectLocked(secondPage);
});

for (const { name, preferences, remembers } of [
  {
    name: "third-party cookies are blocked",
    preferences: () => ({ profile: { cookie_controls_mode: 1, block_third_party_cookies: true } }),
    remembers: true,
  },
  {
    name: "storage of the vault's origin is refused",
    preferences: (vaultOrigin: string) => ({
      profile: { content_settings: { exceptions: { cookies: { [`${vaultOrigin},*`]: { setting: 2 } } } } },
    }),
    remembers: false,
  },
]) {
  test(`a secret is protected and listed where ${name}`, async ({ portal }) => {
    const folder = await mkdtemp(path.join(tmpdir(), "relicario-profile-"));
    await mkdir(path.join(folder, "Default"));
    await writeFile(path.join(folder, "Default/Preferences"), JSON.stringify(preferences(portal.vaultOrigin)));
    const context = await chromium.launchPersistentContext(folder, {
      ...createStoryLaunchOptions(),
      baseURL: portal.origin,
      locale: "en-GB",
    });
    actOnceStarted(context);
    try {
      const page = context.pages()[0] ?? (await context.newPage());
      await signUp(page, newAccount());
      await protectNote(page);
      if (remembers) await answerDeviceQuestion(page, "My own device");
      await page.goto("/secrets");
      if (!remembers) {
        await mainArea(page).getByRole("link", { name: "Unlock with your picture" }).click();
        await showPicture(page, photographs.small);
        await answerDeviceQuestion(page, "A shared device"); // it does not remember the first answer either
      }
      await expect(row(page, "Kept")).toBeVisible({ timeout: 60_000 });
      const isRefused = await requireVaultFrame(page).evaluate(() => {
        try {
          return localStorage.length < 0;
        } catch {
          return true;
        }
      });
      expect(isRefused).toBe(!remembers);
    } finally {
      await context.close();
      await rm(folder, { recursive: true, force: true });
    }
  });
}
