import type { Page } from "@playwright/test";

import { newAccount, signUp } from "../pages/account.ts";
import { answerDeviceQuestion, openList, protect, row } from "../pages/secrets.ts";
import { photographs } from "../support/photographs.ts";
import { expect, test } from "../support/portal-test.ts";
import { sendProviderForm } from "../support/provider-form.ts";

/** Presses "Unlock by signing in again"; returns the provider's window that this opens. */
async function openPopup(page: Page): Promise<Page> {
  const [popup] = await Promise.all([
    page.waitForEvent("popup"),
    page.getByRole("button", { name: "Unlock by signing in again" }).click(),
  ]);
  await expect(popup.getByRole("heading", { name: "Confirm that it is you" })).toBeVisible();
  return popup;
}

test("the user's own locked device opens after a fresh sign-in in a window, only for the same user", async ({
  page,
  request,
}) => {
  const account = newAccount();
  const otherAccount = newAccount();
  await sendProviderForm(request, "sign-up", {
    username: otherAccount.userName,
    email: otherAccount.email,
    password: otherAccount.password,
  });
  await signUp(page, account);
  await protect(page, {
    text: "behind a fresh sign-in",
    title: "Fresh",
    tags: [],
    image: { file: photographs.small, passphrase: null },
  });
  await answerDeviceQuestion(page, "My own device");
  await openList(page);
  await expect(row(page, "Fresh")).toBeVisible();
  await page.getByRole("button", { name: "Lock", exact: true }).click();
  await expect(page.getByText("This device is locked")).toBeVisible();

  await test.step("closing the window leaves the device locked", async () => {
    const popup = await openPopup(page);
    expect(await popup.evaluate(() => innerHeight)).toBe(640);
    await popup.close();
    await expect(page.getByRole("button", { name: "Unlock by signing in again" })).toBeEnabled();
    await expect(page.getByText("This device is locked")).toBeVisible();
  });

  await test.step("another account is refused in the window, and the right one opens the list", async () => {
    const popup = await openPopup(page);
    await expect(popup.getByLabel("User name or e-mail")).toHaveValue(account.userName);
    await popup.getByLabel("User name or e-mail").fill(otherAccount.userName);
    await popup.getByLabel("Password").fill(otherAccount.password);
    await popup.getByRole("button", { name: "Sign in" }).click();
    await expect(popup.getByRole("alert")).toContainText(`sign in as ${account.userName}`);
    await popup.getByLabel("User name or e-mail").fill(account.userName);
    await popup.getByLabel("Password").fill(account.password);
    await Promise.all([popup.waitForEvent("close"), popup.getByRole("button", { name: "Sign in" }).click()]);
    await expect(row(page, "Fresh")).toBeVisible();
    await expect(page.getByText("This device is locked")).toBeHidden();
  });

  await test.step("a window that the browser blocks is reported", async () => {
    await page.getByRole("button", { name: "Lock", exact: true }).click();
    await page.evaluate(() => {
      window.open = () => null;
    });
    await page.getByRole("button", { name: "Unlock by signing in again" }).click();
    await expect(page.getByRole("alert")).toContainText("Your browser blocked the sign-in window");
  });
});
