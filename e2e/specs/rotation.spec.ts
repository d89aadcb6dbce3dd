import type { Page } from "@playwright/test";

import { newAccount, signIn, signUp } from "../pages/account.ts";
import { goWithin } from "../pages/places.ts";
import { answerDevice, openRecovery, protect, revealed, row } from "../pages/secrets.ts";
import { photographs } from "../support/photographs.ts";
import { expect, test } from "../support/portal-test.ts";
import { sentinel } from "../support/sentinel.ts";

async function show(page: Page, button: string): Promise<void> {
  await page.getByLabel("Picture file").setInputFiles(photographs.small);
  await page.getByRole("button", { name: button, exact: true }).click();
}

async function openOpeners(page: Page): Promise<void> {
  await goWithin(page, "/openers");
  await expect(page.getByRole("region", { name: "Ways to open" })).toBeVisible();
}

async function showWhatStays(page: Page): Promise<void> {
  await openOpeners(page);
  await page.getByRole("button", { name: "I lost a device" }).click();
  await page.getByRole("button", { name: "Go on" }).click();
  await show(page, "Show this one");
  await expect(page.getByRole("button", { name: "Make the new key" })).toBeVisible({ timeout: 90_000 });
}

/** Resolves at the call of the service with that number, from now on. */
function atCall(page: Page, number: number): Promise<void> {
  let calls = 0;
  return new Promise((resolve) => {
    page.on("request", (request) => {
      if (new URL(request.url()).pathname.startsWith("/api/") && ++calls === number) resolve();
    });
  });
}

async function rotated(page: Page): Promise<void> {
  await page.getByRole("button", { name: "Make the new key" }).click();
  await expect(page.getByText("Your account has a new key")).toBeVisible({ timeout: 120_000 });
}

test("rotation: a lost device shows no titles any more, and everything opens by what was shown, though the tab was closed on the way", async ({
  page: first,
  browser,
  portal,
}) => {
  test.setTimeout(600_000);
  const account = newAccount();
  const secrets = [
    { title: `First ${sentinel()}`, text: `one ${sentinel()}` },
    { title: `Second ${sentinel()}`, text: `two ${sentinel()}` },
  ] as const;
  const lost = await (await browser.newContext({ baseURL: portal.origin, locale: "en-GB" })).newPage();

  await test.step("an account that is unlocked on a second device", async () => {
    await signUp(first, account);
    await protect(first, { ...secrets[0], tags: [], image: { file: photographs.small, passphrase: null } });
    await answerDevice(first, "My own device");
    await protect(first, { ...secrets[1], tags: [], image: null });
    await signIn(lost, account, { at: "/secrets" });
    await lost.getByRole("link", { name: "Unlock with your picture" }).click();
    await show(lost, "Unlock");
    await answerDevice(lost, "My own device");
    for (const { title } of secrets) await expect(row(lost, title)).toBeVisible({ timeout: 60_000 });
  });

  const call = 1 + Math.floor(Math.random() * 8);
  await test.step(`the second one is lost: the first one shows the picture, and its tab is closed at call ${String(call)}`, async () => {
    await showWhatStays(first);
    const moment = atCall(first, call);
    await first.getByRole("button", { name: "Make the new key" }).click();
    // with fewer calls nothing is left to close
    await Promise.race([moment, first.getByText("Your account has a new key").waitFor({ timeout: 120_000 })]);
    await first.close();
  });

  const page = await first.context().newPage();
  await test.step("another tab goes on: the account gets a new key, and everything opens", async () => {
    await page.goto("/secrets");
    // Once the switch took place a page that did not live to keep the new key is locked, as any
    // other device.
    const locked = page.getByText("This device is locked");
    await expect(locked.or(row(page, secrets[0].title))).toBeVisible({ timeout: 60_000 });
    if (await locked.isVisible()) {
      await page.getByRole("link", { name: "Unlock with your picture" }).click();
      await show(page, "Unlock");
    }
    for (const { title } of secrets) await expect(row(page, title)).toBeVisible({ timeout: 60_000 });
    await showWhatStays(page);
    await rotated(page);
    await page.getByRole("button", { name: "Done" }).click();
    await expect(page.getByRole("region", { name: "Ways to open" })).toBeVisible();
    for (const { title, text } of secrets) {
      await openRecovery(page, title);
      await show(page, "Recover");
      expect(await revealed(page)).toBe(text);
    }
  });

  await test.step("the lost device, still signed in, shows no title", async () => {
    await lost.goto("/secrets");
    await expect(lost.getByText("This device is locked")).toBeVisible({ timeout: 60_000 });
    for (const { title } of secrets) await expect(row(lost, title)).toHaveCount(0);
    await lost.context().close();
  });
});

/**
 * Pairs of rounds of each account: more of them would meet the limit of pictures that are shown in
 * a few minutes.
 */
const [accounts, pairs] = process.env["RELICARIO_TESTS"] === "all" ? [2, 5] : [1, 1];

for (let account = 1; account <= accounts; account++)
  test(`rotation: killed at a random call, with its tab and with the service, it ends in one account by going on (${String(account)} of ${String(accounts)})`, async ({
    page: first,
    portal,
  }) => {
    test.setTimeout(120_000 + pairs * 240_000);
    const secrets = Array.from({ length: 4 }, () => ({ title: `Kept ${sentinel()}`, text: `text ${sentinel()}` }));
    await signUp(first, newAccount());
    for (const [at, secret] of secrets.entries()) {
      await protect(first, {
        ...secret,
        tags: [],
        image: at === 0 ? { file: photographs.small, passphrase: null } : null,
      });
      if (at === 0) await answerDevice(first, "My own device");
    }
    let total = 0;
    await test.step("as a measure, one that nobody kills", async () => {
      await showWhatStays(first);
      first.on("request", (request) => {
        if (new URL(request.url()).pathname.startsWith("/api/")) total += 1;
      });
      await rotated(first);
      expect(total).toBeGreaterThan(3);
      await first.close();
    });

    for (let round = 0; round < 2 * pairs; round++) {
      const victim = round % 2 === 0 ? "the tab" : "the service";
      const call = 1 + Math.floor(Math.random() * total);
      await test.step(`${victim} at call ${String(call)} of ${String(total)}`, async () => {
        const page = await first.context().newPage();
        await showWhatStays(page);
        const moment = atCall(page, call);
        await page.getByRole("button", { name: "Make the new key" }).click();
        // With fewer calls than the measure had there is nothing left to kill.
        await Promise.race([moment, page.getByText("Your account has a new key").waitFor({ timeout: 120_000 })]);
        if (victim === "the service") await portal.processes.kill("service");
        await page.close();
        if (victim === "the service") await portal.processes.start("service");

        const next = await first.context().newPage();
        await next.goto("/secrets");
        // Once the switch took place a page that did not live to keep the new key is locked, as any
        // other device.
        const locked = next.getByText("This device is locked");
        await expect(locked.or(row(next, secrets[0]?.title ?? ""))).toBeVisible({ timeout: 60_000 });
        if (await locked.isVisible()) {
          await next.getByRole("link", { name: "Unlock with your picture" }).click();
          await show(next, "Unlock");
        }
        for (const { title } of secrets) await expect(row(next, title)).toBeVisible({ timeout: 60_000 });
        await showWhatStays(next);
        await rotated(next);
        const { title, text } = secrets[round % secrets.length] ?? { title: "", text: "" };
        await openRecovery(next, title);
        await show(next, "Recover");
        expect(await revealed(next)).toBe(text);
        await next.close();
      });
    }
  });
