import type { Page } from "@playwright/test";

import { newAccount, signIn, signUp } from "../pages/account.ts";
import { answerDevice, openRecovery, protect, revealed, row } from "../pages/secrets.ts";
import { withPasskeys } from "../support/passkeys.ts";
import { photographs } from "../support/photographs.ts";
import { expect, test } from "../support/portal-test.ts";
import { sentinel } from "../support/sentinel.ts";

async function show(page: Page, button: string): Promise<void> {
  await page.getByLabel("Picture file").setInputFiles(photographs.mountains);
  await page.getByRole("button", { name: button, exact: true }).click();
}

async function openOpeners(page: Page): Promise<void> {
  await page.goto("/openers");
  await expect(page.getByRole("region", { name: "Ways to open" })).toBeVisible();
}

async function showWhatStays(page: Page): Promise<void> {
  await openOpeners(page);
  await page.getByRole("button", { name: "I lost a device" }).click();
  await page.getByRole("button", { name: "Go on" }).click();
  await show(page, "Show this one");
  await expect(page.getByRole("button", { name: "Make the new key" })).toBeVisible({ timeout: 90_000 });
}

test("rotation: a lost device shows no titles any more, and everything opens by what was shown", async ({ page, browser, portal }) => {
  test.setTimeout(600_000);
  const account = newAccount();
  const [first, second] = [{ title: `First ${sentinel()}`, text: `one ${sentinel()}` }, { title: `Second ${sentinel()}`, text: `two ${sentinel()}` }] as const;
  const lost = await (await browser.newContext({ baseURL: portal.origin, locale: "en-GB" })).newPage();

  await test.step("an account with a passkey, which is unlocked on a second device", async () => {
    await withPasskeys(page);
    await signUp(page, account);
    await protect(page, { ...first, tags: [], image: { file: photographs.mountains, passphrase: null } });
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
    await showWhatStays(page);
    await expect(page.getByText(/Not shown yet, and removed if it stays so: Passkey/)).toBeVisible();
    await page.getByRole("button", { name: "Make the new key" }).click();
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

/** Pairs of rounds of each account: more of them would meet the limit of pictures that are shown in a few minutes. */
const [accounts, pairs] = process.env["RELICARIO_TESTS"] === "all" ? [2, 5] : [1, 1];

for (let account = 1; account <= accounts; account++) test(`rotation: killed at a random call, with its tab and with the service, it ends in one account by going on (${String(account)} of ${String(accounts)})`, async ({ page: first, portal }) => {
  test.setTimeout(120_000 + pairs * 240_000);
  const secrets = Array.from({ length: 4 }, () => ({ title: `Kept ${sentinel()}`, text: `text ${sentinel()}` }));
  await signUp(first, newAccount());
  for (const [at, secret] of secrets.entries()) {
    await protect(first, { ...secret, tags: [], image: at === 0 ? { file: photographs.mountains, passphrase: null } : null });
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
      // Once the switch took place a page that did not live to keep the new key is locked, as any other device.
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
