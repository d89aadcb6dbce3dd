import { readdir, readFile } from "node:fs/promises";
import path from "node:path";

import PostalMime from "postal-mime";

import { newAccount, signIn, signUp } from "../pages/account.ts";
import { expectAccessible } from "../support/appearance.ts";
import { expect, test } from "../support/portal-test.ts";

/** Link of the newest mail that validates an address. */
async function findValidationLink(outbox: string): Promise<string | null> {
  const names = (await readdir(outbox).catch(() => [])).filter((name) => name.endsWith(".eml")).sort();
  const mails = await Promise.all(names.map((name) => readFile(path.join(outbox, name), "utf8")));
  const texts = await Promise.all(mails.map(async (mail) => (await PostalMime.parse(mail)).text ?? ""));
  const links = texts.flatMap((text) => /https?:\/\/\S+\/validate-email#\S+/.exec(text)?.[0] ?? []);
  return links.at(-1) ?? null;
}

test("a person chooses a name, confirms an address by its mail, changes the password and writes feedback", async ({
  page,
  browser,
  portal,
}) => {
  const account = newAccount();
  const otherAccount = newAccount();
  const otherContext = await browser.newContext({ baseURL: portal.origin });
  await signUp(await otherContext.newPage(), otherAccount);
  await otherContext.close();
  await signUp(page, account);

  await test.step("feedback is about the previous screen", async () => {
    await page.getByRole("link", { name: "Feedback" }).click();
    await expect(page.getByText("the screen (/home)")).toBeVisible();
    await page.getByRole("radio", { name: "Very good" }).check();
    await page.getByLabel("Your message").fill("All is where I look for it.");
    await page.getByRole("button", { name: "Send" }).click();
    await expect(page.getByText("Thanks for your feedback")).toBeVisible();
  });

  await test.step("a taken name is refused while it is typed; a free name is saved, and shown by the frame", async () => {
    await page.getByRole("navigation", { name: "Settings" }).getByRole("link", { name: "Profile" }).click();
    const name = page.getByLabel("Name others see");
    await name.fill(otherAccount.userName.toUpperCase());
    await expect(page.getByText("This name is taken")).toBeVisible();
    await expect(name).toHaveAttribute("aria-invalid", "true");
    await name.fill(`${account.userName}.b`);
    await expect(name).not.toHaveAttribute("aria-invalid", "true");
    await page.getByLabel("Contact e-mail").fill(account.email);
    await page.getByRole("button", { name: "Save" }).click();
    await expect(page.getByText("Profile saved.")).toBeVisible();
    await expect(page.getByRole("button", { name: /^Sign out/ }).first()).toContainText(`${account.userName}.b`);
  });

  await test.step("the address is confirmed by the link in its mail", async () => {
    await page.getByRole("button", { name: "Send confirmation link" }).click();
    await expect(page.getByText(`We sent a link to ${account.email}`)).toBeVisible();
    const outbox = path.join(portal.dataDir, "outbox");
    await expect.poll(() => findValidationLink(outbox)).not.toBeNull();
    await page.goto((await findValidationLink(outbox)) ?? "");
    await page.getByRole("button", { name: "Confirm the address" }).click();
    await expect(page.getByText(account.email)).toBeVisible();
    await page.goto("/settings/profile");
    await expect(page.getByText(`The address ${account.email} is confirmed.`)).toBeVisible();
    await expectAccessible(page, "the profile");
  });

  await test.step("changing the password signs out the other browser, but not this one", async () => {
    const secondContext = await browser.newContext({ baseURL: portal.origin });
    const secondPage = await secondContext.newPage();
    await signIn(secondPage, account);
    await page.getByLabel("Current password").fill("not it at all");
    await page.getByLabel("New password").fill("short");
    await page.getByRole("button", { name: "Change password" }).click();
    await expect(page.getByText("Wrong password.")).toBeVisible();
    await expect(page.getByText("At least 10 characters.").last()).toBeVisible();
    await page.getByLabel("Current password").fill(account.password);
    await page.getByLabel("New password").fill(`${account.password} anew`);
    await page.getByRole("button", { name: "Change password" }).click();
    await expect(page.getByText("Password changed.")).toBeVisible();

    await secondPage.getByRole("link", { name: "Settings" }).first().click();
    await expect(secondPage.getByText("Your sign-in has ended", { exact: true })).toBeVisible();
    const [popup] = await Promise.all([
      secondPage.waitForEvent("popup"),
      secondPage.getByRole("button", { name: "Sign in again" }).click(),
    ]);
    await popup.getByLabel("Password").fill(`${account.password} anew`);
    await Promise.all([popup.waitForEvent("close"), popup.getByRole("button", { name: "Sign in" }).click()]);
    await expect(secondPage.getByText("Your sign-in has ended", { exact: true })).toBeHidden();
    await secondPage.reload();
    await expect(secondPage.getByText(`The address ${account.email} is confirmed.`)).toBeVisible();
    await secondContext.close();
    await page.reload();
    await expect(page.getByRole("heading", { level: 1, name: "Profile" })).toBeVisible();
  });
});
