import type { Page } from "@playwright/test";

import { newAccount, signIn, signUp, type Account } from "../pages/account.ts";
import { answerDeviceQuestion, openList, protect, row } from "../pages/secrets.ts";
import { changeInput, choosePicture, pictureField, pressButton } from "../pages/picture-field.ts";
import { runSql } from "../support/database.ts";
import { photographs } from "../support/photographs.ts";
import { expect, test } from "../support/portal-test.ts";
import { createSentinel } from "../support/sentinel.ts";

/** Presses a button that asks for a fresh sign-in, and signs in. */
async function withFreshSignIn(page: Page, button: string, { userName, password }: Account): Promise<void> {
  const [popup] = await Promise.all([page.waitForEvent("popup"), page.getByRole("button", { name: button }).click()]);
  await popup.getByLabel("User name or e-mail").fill(userName);
  await popup.getByLabel("Password").fill(password);
  await Promise.all([popup.waitForEvent("close"), popup.getByRole("button", { name: "Sign in" }).click()]);
}

async function requestAccountReset(page: Page, account: Account): Promise<void> {
  await page.goto("/welcome-recovery?have=none");
  await page.getByRole("link", { name: "Reset my account (secrets will be lost)" }).click();
  await expect(page.getByRole("link", { name: "I have a copy" })).toBeVisible();
  await page.getByRole("checkbox", { name: /I give up everything/ }).check();
  await withFreshSignIn(page, "Sign in again and request the reset", account);
  await expect(page.getByRole("heading", { name: /^Your account can be reset from/ })).toBeVisible();
}

test("reset: another device sees the request and objects; requested again without objection, the account is reset", async ({
  page,
  browser,
  portal,
}) => {
  const account = newAccount();
  const [titleBefore, titleAfter] = [`Before ${createSentinel()}`, `After ${createSentinel()}`];
  await signUp(page, account);
  await protect(page, {
    text: "of before",
    title: titleBefore,
    tags: [],
    image: { file: photographs.mountains, passphrase: null },
  });
  await answerDeviceQuestion(page, "My own device");
  const otherContext = await browser.newContext({ baseURL: portal.origin, locale: "en-GB", timezoneId: "UTC" });
  const otherPage = await otherContext.newPage();
  await signIn(otherPage, account);

  await test.step("a user who lost everything requests the reset, after seeing the ways that still exist, with a fresh sign-in", async () => {
    await requestAccountReset(otherPage, account);
  });

  await test.step("the device that is still unlocked shows the request on Home, and objects: nothing changes", async () => {
    await page.goto("/home");
    await expect(page.getByText("Someone asked to reset this account", { exact: true })).toBeVisible();
    await page.getByRole("button", { name: "This was not me: stop the reset" }).click();
    await expect(page.getByRole("button", { name: "This was not me: stop the reset" })).toBeHidden();
    await page.goto("/secrets");
    await expect(row(page, titleBefore)).toBeVisible();
    await otherPage.reload();
    await expect(otherPage.getByText(/^Someone stopped it on/)).toBeVisible();
  });

  await test.step("requested again, after the wait: a new picture and a fresh sign-in reset the account", async () => {
    await requestAccountReset(otherPage, account);
    await runSql(portal, "update start_anews set ready_at = now()"); // seven days later
    await otherPage.reload();
    await expect(otherPage.getByRole("region", { name: "Choose the new picture" })).toBeVisible();
    await choosePicture(otherPage, photographs.small);
    await expect(pictureField(otherPage).getByText("This picture has enough detail")).toBeVisible({ timeout: 60_000 });
    await changeInput(otherPage, () =>
      pictureField(otherPage)
        .getByRole("checkbox", { name: /Continue without a passphrase/ })
        .check(),
    );
    await withFreshSignIn(otherPage, "Sign in again and reset", account);
    await expect(otherPage.getByText(/^This account was reset on/)).toBeVisible({ timeout: 90_000 });
    await answerDeviceQuestion(otherPage, "My own device");
  });

  await test.step("the account is empty, and takes a new secret", async () => {
    await openList(otherPage);
    await expect(otherPage.getByText(titleBefore)).toBeHidden();
    await protect(otherPage, { text: "of after", title: titleAfter, tags: [], image: null }, null);
    await openList(otherPage);
    await expect(row(otherPage, titleAfter)).toBeVisible();
  });

  await test.step("the earlier device says what happened, and opens with the new picture", async () => {
    await page.goto("/home");
    await expect(page.getByText(/^This account was reset on/)).toBeVisible();
    await expect(page.getByText(titleBefore)).toBeHidden();
    await page.goto("/start-anew");
    await page.getByRole("link", { name: "Unlock with the new picture" }).click();
    await choosePicture(page, photographs.small);
    await pressButton(page, "Unlock");
    await expect(page).toHaveURL(/\/home$/, { timeout: 60_000 });
    await page.goto("/secrets");
    await expect(row(page, titleAfter)).toBeVisible({ timeout: 60_000 });
  });
  await otherContext.close();
});
