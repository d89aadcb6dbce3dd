import { randomInt } from "node:crypto";

import type { Locator, Page } from "@playwright/test";

import { newAccount, signIn, signUp } from "../pages/account.ts";
import { answerDevice, openRecovery, protect, revealed, row } from "../pages/secrets.ts";
import { withPasskeys } from "../support/passkeys.ts";
import { photographs } from "../support/photographs.ts";
import { expect, test } from "../support/portal-test.ts";
import { sentinel } from "../support/sentinel.ts";

async function show(page: Page, button: string): Promise<void> {
  await page.getByLabel("Picture file").setInputFiles(photographs.small);
  await page.getByRole("button", { name: button, exact: true }).click();
}

async function openOpeners(page: Page): Promise<void> {
  await page.goto("/openers");
  await expect(page.getByRole("region", { name: "Ways to open" })).toBeVisible();
}

/** As far as the button that makes the new key. */
async function beginRotation(page: Page): Promise<void> {
  await openOpeners(page);
  await page.getByRole("button", { name: "I lost a device" }).click();
  await page.getByRole("button", { name: "Go on" }).click();
  await show(page, "Show this one");
  await expect(makesNewKey(page)).toBeVisible({ timeout: 90_000 });
}

const makesNewKey = (page: Page): Locator => page.getByRole("button", { name: "Make the new key" });

test("rotation: a lost device shows no titles any more, and everything opens by what was shown", async ({ page, browser, portal }) => {
  test.setTimeout(600_000);
  const account = newAccount();
  const [first, second] = [{ title: `First ${sentinel()}`, text: `one ${sentinel()}` }, { title: `Second ${sentinel()}`, text: `two ${sentinel()}` }] as const;
  const lost = await (await browser.newContext({ baseURL: portal.origin, locale: "en-GB" })).newPage();

  await test.step("an account with a passkey, which is unlocked on a second device", async () => {
    await withPasskeys(page);
    await signUp(page, account);
    await protect(page, { ...first, tags: [], image: { file: photographs.small, passphrase: null } });
    await answerDevice(page, "My own device");
    await openOpeners(page);
    await page.getByRole("button", { name: "Make a passkey" }).click();
    await page.getByRole("button", { name: "Make and add" }).click();
    const asked = page.getByText("To add it, show something that opens your secrets today.");
    const listed = page.getByText(/^Passkey, added/);
    await expect(asked.or(listed)).toBeVisible({ timeout: 60_000 });
    if (await asked.isVisible()) await show(page, "Make and add");
    await expect(listed).toBeVisible({ timeout: 90_000 });
    await protect(page, { ...second, tags: [], image: null });
    await signIn(lost, account);
    await lost.goto("/secrets");
    await lost.getByRole("link", { name: "Unlock with your picture" }).click();
    await show(lost, "Unlock");
    await answerDevice(lost, "My own device");
    await lost.goto("/secrets");
    for (const { title } of [first, second]) await expect(row(lost, title)).toBeVisible({ timeout: 60_000 });
  });

  await test.step("the second one is lost: the first one shows the picture, and the account gets a new key", async () => {
    await beginRotation(page);
    await expect(page.getByText(/Not shown yet, and removed if it stays so: Passkey/)).toBeVisible();
    await makesNewKey(page).click();
    await expect(page.getByText("Your account has a new key")).toBeVisible({ timeout: 120_000 });
    await page.getByRole("button", { name: "Done" }).click();
    await expect(page.getByRole("region", { name: "Ways to open" })).toBeVisible();
    await expect(page.getByText(/^Passkey, added/)).toHaveCount(0);
  });

  await test.step("everything opens here, without anything lost", async () => {
    for (const { title, text } of [first, second]) {
      await openRecovery(page, title);
      await show(page, "Recover");
      expect(await revealed(page)).toBe(text);
    }
  });

  await test.step("the lost device, still signed in, shows no title", async () => {
    await lost.goto("/secrets");
    await expect(lost.getByText("This device is locked")).toBeVisible({ timeout: 60_000 });
    for (const { title } of [first, second]) await expect(row(lost, title)).toHaveCount(0);
    await lost.context().close();
  });
});

/** By turns the tab is closed and the service killed. */
const kills = process.env["RELICARIO_TESTS"] === "all" ? 20 : 2;

test(`rotation: killed at ${String(kills)} random moments it leaves one account in which everything opens, and is done by going on`, async ({ context, page: first, browser, portal }) => {
  test.setTimeout(300_000 + kills * 120_000);
  const account = newAccount();
  const secrets = [{ title: `First ${sentinel()}`, text: `one ${sentinel()}` }, { title: `Second ${sentinel()}`, text: `two ${sentinel()}` }] as const;
  const lost = await (await browser.newContext({ baseURL: portal.origin, locale: "en-GB" })).newPage();
  let page = first;
  let milliseconds = 0;

  const everythingOpens = async (): Promise<void> => {
    await page.goto("/secrets");
    const locked = page.getByText("This device is locked");
    await expect(locked.or(row(page, secrets[0].title))).toBeVisible({ timeout: 60_000 });
    if (await locked.isVisible()) {
      await page.getByRole("link", { name: "Unlock with your picture" }).click();
      await show(page, "Unlock");
      await expect(row(page, secrets[0].title)).toBeVisible({ timeout: 90_000 });
    }
    for (const { title, text } of secrets) {
      await openRecovery(page, title);
      await show(page, "Recover");
      expect(await revealed(page)).toBe(text);
    }
  };
  const isDone = (): Locator => page.getByText("Your account has a new key");
  const goOn = async (): Promise<void> => {
    if (!(await makesNewKey(page).isVisible())) await beginRotation(page);
    await makesNewKey(page).click();
    await expect(isDone()).toBeVisible({ timeout: 120_000 });
  };

  await test.step("an account with two devices; how long a rotation takes", async () => {
    await signUp(page, account);
    await protect(page, { ...secrets[0], tags: [], image: { file: photographs.small, passphrase: null } });
    await answerDevice(page, "My own device");
    await protect(page, { ...secrets[1], tags: [], image: null });
    await signIn(lost, account);
    await lost.goto("/secrets");
    await lost.getByRole("link", { name: "Unlock with your picture" }).click();
    await show(lost, "Unlock");
    await answerDevice(lost, "My own device");
    await beginRotation(page);
    const began = performance.now();
    await goOn();
    milliseconds = Math.ceil(performance.now() - began);
  });

  for (let round = 0; round < kills; round++) {
    const what = round % 2 === 0 ? "tab" : "service";
    const moment = randomInt(milliseconds);
    await test.step(`the ${what} is killed after ${String(moment)} of ${String(milliseconds)} ms`, async () => {
      await beginRotation(page);
      await makesNewKey(page).click();
      await new Promise((resolve) => setTimeout(resolve, moment));
      if (what === "tab") {
        await page.close();
        page = await context.newPage();
      } else {
        await portal.processes.kill("service");
        await portal.processes.start("service");
        await expect(isDone().or(makesNewKey(page).and(page.locator("button:not([aria-busy])")))).toBeVisible({ timeout: 120_000 });
      }
      if (what === "tab") await everythingOpens();
      if (!(await isDone().isVisible())) await goOn();
      await everythingOpens();
    });
  }

  await test.step("the lost device shows no title, and another browser opens everything", async () => {
    await lost.goto("/secrets");
    await expect(lost.getByText("This device is locked")).toBeVisible({ timeout: 60_000 });
    for (const { title } of secrets) await expect(row(lost, title)).toHaveCount(0);
    await lost.context().close();
    page = await (await browser.newContext({ baseURL: portal.origin, locale: "en-GB" })).newPage();
    await signIn(page, account);
    await page.goto("/secrets");
    await page.getByRole("link", { name: "Unlock with your picture" }).click();
    await show(page, "Unlock");
    await answerDevice(page, "My own device");
    await everythingOpens();
    await page.context().close();
  });
});
