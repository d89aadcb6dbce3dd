import type { Page } from "@playwright/test";

import { newAccount, signIn, signUp, type Account } from "../pages/account.ts";
import { answerDevice, openList, protect, row } from "../pages/secrets.ts";
import { runSql } from "../support/database.ts";
import { photographs } from "../support/photographs.ts";
import { expect, test } from "../support/portal-test.ts";
import { sentinel } from "../support/sentinel.ts";

/** Presses a button that asks for a fresh sign-in, and signs in. */
async function withFreshSignIn(page: Page, button: string, { userName, password }: Account): Promise<void> {
  const [popup] = await Promise.all([page.waitForEvent("popup"), page.getByRole("button", { name: button }).click()]);
  await popup.getByLabel("User name or e-mail").fill(userName);
  await popup.getByLabel("Password").fill(password);
  await Promise.all([popup.waitForEvent("close"), popup.getByRole("button", { name: "Sign in" }).click()]);
}

async function askToStartAnew(page: Page, account: Account): Promise<void> {
  await page.goto("/welcome-recovery?have=none");
  await page.getByRole("link", { name: "I have lost everything: start anew" }).click();
  await expect(page.getByRole("link", { name: "I have a copy" })).toBeVisible();
  await page.getByRole("checkbox", { name: /I give up everything/ }).check();
  await withFreshSignIn(page, "Sign in again and ask for it", account);
  await expect(page.getByRole("heading", { name: /^Your account can be started anew from/ })).toBeVisible();
}

test("start anew: another device sees it and objects; asked again and not objected to, the account begins anew", async ({
  page,
  browser,
  portal,
}) => {
  test.setTimeout(300_000);
  const account = newAccount();
  const [before, after] = [`Before ${sentinel()}`, `After ${sentinel()}`];
  await signUp(page, account);
  await protect(page, {
    text: "of before",
    title: before,
    tags: [],
    image: { file: photographs.mountains, passphrase: null },
  });
  await answerDevice(page, "My own device");
  const elsewhere = await browser.newContext({ baseURL: portal.origin, locale: "en-GB", timezoneId: "UTC" });
  const other = await elsewhere.newPage();
  await signIn(other, account);

  await test.step("whoever lost everything asks, after the ways that still exist and a fresh sign-in", async () => {
    await askToStartAnew(other, account);
  });

  await test.step("the device that is still open shows it on Home, and objects: nothing has changed", async () => {
    await page.goto("/home");
    await expect(page.getByText("Somebody asked to start this account anew", { exact: true })).toBeVisible();
    await page.getByRole("button", { name: "This was not me: object" }).click();
    await expect(page.getByRole("button", { name: "This was not me: object" })).toBeHidden();
    await page.goto("/secrets");
    await expect(row(page, before)).toBeVisible();
    await other.reload();
    await expect(other.getByText(/^Somebody objected on/)).toBeVisible();
  });

  await test.step("asked again, and the wait is over: a new picture and a fresh sign-in begin anew", async () => {
    await askToStartAnew(other, account);
    await runSql(portal, "update start_anews set ready_at = now()"); // seven days later
    await other.reload();
    await expect(other.getByRole("region", { name: "Begin anew" })).toBeVisible();
    await other.getByLabel("Picture file").setInputFiles(photographs.small);
    await expect(other.getByText("This picture is good")).toBeVisible({ timeout: 60_000 });
    await other.getByRole("checkbox", { name: /Go without a passphrase/ }).check();
    await withFreshSignIn(other, "Sign in again and begin anew", account);
    await expect(other.getByText(/^This account was started anew on/)).toBeVisible({ timeout: 90_000 });
    await answerDevice(other, "My own device");
  });

  await test.step("the account is empty, and takes a new secret", async () => {
    await openList(other);
    await expect(other.getByText(before)).toBeHidden();
    await protect(other, { text: "of after", title: after, tags: [], image: null }, null);
    await openList(other);
    await expect(row(other, after)).toBeVisible();
  });

  await test.step("the device of before says what happened, and opens with the new picture", async () => {
    await page.goto("/home");
    await expect(page.getByText(/^This account was started anew on/)).toBeVisible();
    await expect(page.getByText(before)).toBeHidden();
    await page.goto("/start-anew");
    await page.getByRole("link", { name: "Unlock with the new picture" }).click();
    await page.getByLabel("Picture file").setInputFiles(photographs.small);
    await page.getByRole("button", { name: "Unlock", exact: true }).click();
    await expect(page).toHaveURL(/\/home$/, { timeout: 60_000 });
    await page.goto("/secrets");
    await expect(row(page, after)).toBeVisible({ timeout: 60_000 });
  });
  await elsewhere.close();
});
