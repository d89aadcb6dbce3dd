import type { Page } from "@playwright/test";

import { newAccount, signIn, signOut, signUp } from "../pages/account.ts";
import { navigateInApp } from "../pages/navigation.ts";
import {
  answerDeviceQuestion,
  openList,
  openRecovery,
  protect,
  revealSecret,
  row,
  showPicture,
} from "../pages/secrets.ts";
import { addVirtualPasskeys } from "../support/passkeys.ts";
import { photographs } from "../support/photographs.ts";
import { expect, test } from "../support/portal-test.ts";
import { createSentinel } from "../support/sentinel.ts";

async function openOpeners(page: Page): Promise<void> {
  await navigateInApp(page, "/openers");
  await expect(page.getByRole("region", { name: "Ways to open" })).toBeVisible();
}

/** Shows the picture where the page asks for one, and presses the button. */
async function submitPicture(page: Page, button: string): Promise<void> {
  await page.getByLabel("Picture file").setInputFiles(photographs.small);
  await page.getByRole("button", { name: button, exact: true }).click();
}

async function makePasskey(page: Page): Promise<void> {
  await page.goto("/openers"); // a page that was loaded again holds nothing that was shown before
  await page.getByRole("button", { name: "Make a passkey" }).click();
  await page.getByRole("button", { name: "Make and add" }).click();
  await expect(page.getByText("To add it, show something that opens your secrets today.")).toBeVisible();
  await submitPicture(page, "Make and add");
  await expect(page.getByText(/^Passkey, added/)).toBeVisible({ timeout: 90_000 });
}

/** Makes a code, types two of its words back, and gives all of them. */
async function makeCode(page: Page): Promise<string> {
  await openOpeners(page);
  await page.getByRole("button", { name: "Make a recovery code" }).click();
  const codeWords = await page.getByRole("list", { name: "The 24 words" }).getByRole("listitem").allTextContents();
  expect(codeWords).toHaveLength(24);
  await page.getByRole("button", { name: "I have them on paper" }).click();
  for (const field of await page.getByRole("textbox", { name: /^Word \d+$/ }).all()) {
    const label = await field.evaluate((input: HTMLInputElement) => input.labels?.[0]?.textContent ?? "");
    await field.fill(codeWords[Number(/\d+/.exec(label)?.[0]) - 1] ?? "");
  }
  await page.getByRole("button", { name: "Continue" }).click();
  await page.getByRole("button", { name: "Add the code" }).click();
  const openerPrompt = page.getByText("To add it, show something that opens your secrets today.");
  const addedNotice = page.getByText(/^Printed recovery code, added/);
  await expect(openerPrompt.or(addedNotice)).toBeVisible({ timeout: 30_000 });
  if (await openerPrompt.isVisible()) await submitPicture(page, "Add the code");
  await expect(addedNotice).toBeVisible({ timeout: 90_000 });
  return codeWords.join(" ");
}

async function resealWithPicture(page: Page): Promise<void> {
  await page.getByRole("button", { name: "Seal what is not covered" }).click();
  await submitPicture(page, "Show it and seal");
  await expect(page.getByText(/sealed to every way/)).toBeVisible({ timeout: 90_000 });
}

async function showPasskey(page: Page): Promise<void> {
  await page.getByRole("button", { name: "Use a passkey" }).click();
  await page.getByRole("button", { name: "Ask for the passkey" }).click();
  await expect(page.getByText("The passkey is ready.")).toBeVisible();
  await page.getByRole("button", { name: /^(Recover|Unlock)$/ }).click();
}

async function showCode(page: Page, code: string): Promise<void> {
  await page.getByRole("button", { name: "Use a recovery code" }).click();
  await page.getByRole("textbox", { name: "Recovery code" }).fill(code);
  await page.getByRole("button", { name: /^(Recover|Unlock)$/ }).click();
}

/** Where a secret is opened, and where a device is unlocked or an act asks for a picture. */
const refusedMessage = /Not this picture, or not this passphrase|This picture and passphrase together do not open it/;

test("openers: whatever is left opens, what was replaced opens nothing, and a device without PRF adds nothing", async ({
  page,
  browser,
  portal,
}) => {
  test.setTimeout(600_000);
  const account = newAccount();
  const secrets = [
    { title: `First ${createSentinel()}`, text: `one ${createSentinel()}` },
    { title: `Second ${createSentinel()}`, text: `two ${createSentinel()}` },
  ] as const;
  const [passphrase, newPassphrase] = [`ten stones ${createSentinel()}`, `a boat ${createSentinel()}`];
  const refusedAlert = page.getByRole("alert").filter({ hasText: refusedMessage });
  const passkeys = await addVirtualPasskeys(page);
  let code = "";

  await test.step("a person protects a secret, makes a passkey and a recovery code, and covers what was there", async () => {
    await signUp(page, account);
    await protect(page, {
      ...secrets[0],
      tags: [],
      image: { file: photographs.small, passphrase: null, name: "The mountains" },
    });
    await answerDeviceQuestion(page, "My own device");
    await makePasskey(page);
    expect(await passkeys.count()).toBe(1);
    code = await makeCode(page);
    await resealWithPicture(page);
    await protect(page, { ...secrets[1], tags: [], image: null });
  });

  await test.step("every picture lost: the passkey unlocks the locked device, whose keys were gone, and opens", async () => {
    await page.getByRole("button", { name: "Lock", exact: true }).click();
    await openList(page);
    await expect(page.getByText("This device is locked")).toBeVisible();
    await page.getByRole("link", { name: "Unlock with your picture" }).click();
    await showPasskey(page);
    for (const { title } of secrets) await expect(row(page, title)).toBeVisible({ timeout: 60_000 });
    await openRecovery(page, secrets[0].title);
    await showPasskey(page);
    expect(await revealSecret(page)).toBe(secrets[0].text);
  });

  await test.step("the passkey lost: it says so, and the picture opens", async () => {
    await passkeys.deleteAll();
    await openRecovery(page, secrets[1].title);
    await page.getByRole("button", { name: "Use a passkey" }).click();
    await page.getByRole("button", { name: "Ask for the passkey" }).click();
    await expect(page.getByText(/No passkey was given/)).toBeVisible({ timeout: 90_000 });
    await page.getByRole("button", { name: "Use a picture" }).click();
    await submitPicture(page, "Recover");
    expect(await revealSecret(page)).toBe(secrets[1].text);
  });

  await test.step("the picture gets a passphrase: it says what opens afterwards, and asks for the picture as it is now", async () => {
    await openOpeners(page);
    await page.getByRole("button", { name: "Change the passphrase of The mountains" }).click();
    await expect(
      page.getByText("Afterwards The mountains opens your secrets with the new passphrase alone."),
    ).toBeVisible();
    await page.getByRole("textbox", { name: "New passphrase", exact: true }).fill(passphrase);
    await page.getByRole("textbox", { name: "New passphrase again" }).fill(passphrase);
    await page.getByRole("button", { name: "Continue", exact: true }).click();
    await page.getByLabel("Picture file").setInputFiles(photographs.small);
    const passphraseField = page.getByRole("textbox", { name: "Passphrase, if the picture has one" });
    await passphraseField.fill(passphrase);
    await page.getByRole("button", { name: "Change the passphrase", exact: true }).click();
    await expect(page.getByRole("alert")).toContainText("This picture would open without its passphrase", {
      timeout: 90_000,
    });
    await passphraseField.fill("");
    await page.getByRole("button", { name: "Change the passphrase", exact: true }).click();
    await expect(page.getByRole("button", { name: "Change the passphrase of The mountains" })).toBeVisible({
      timeout: 120_000,
    });
    await expect(
      page.getByRole("list", { name: "Ways to open" }).getByRole("listitem").filter({ hasText: "The mountains" }),
    ).toContainText("Opens 2 of 2 secrets.");
  });

  await test.step("without it the picture opens nothing, with it what it opened", async () => {
    await openRecovery(page, secrets[0].title);
    await showPicture(page, photographs.small);
    await expect(refusedAlert).toBeVisible({ timeout: 90_000 });
    await showPicture(page, photographs.small, passphrase);
    expect(await revealSecret(page)).toBe(secrets[0].text);
  });

  await test.step("another picture takes its place: the old one opens nothing, and the new one what it opened", async () => {
    await openOpeners(page);
    await page.getByRole("button", { name: "Use another picture instead of The mountains" }).click();
    await expect(page.getByText("Afterwards the new picture opens what The mountains opens today")).toBeVisible();
    await page.getByLabel("Picture file").setInputFiles(photographs.friends);
    await expect(page.getByText("This picture is good")).toBeVisible({ timeout: 60_000 });
    await page.getByRole("textbox", { name: "Passphrase", exact: true }).fill(newPassphrase);
    await page.getByRole("textbox", { name: "Passphrase again" }).fill(newPassphrase);
    await page.getByLabel("Name of the new picture").fill("The friends");
    await page.getByRole("button", { name: "Continue", exact: true }).click();
    await expect(page.getByText("Now show The mountains as it opens today")).toBeVisible();
    await page.getByLabel("Picture file").last().setInputFiles(photographs.small);
    await page.getByRole("textbox", { name: "Passphrase, if the picture has one" }).fill(passphrase);
    await page.getByRole("button", { name: "Use the new picture", exact: true }).click();
    await expect(page.getByRole("button", { name: "Use another picture instead of The friends" })).toBeVisible({
      timeout: 120_000,
    });
    await expect(page.getByText("The mountains")).toHaveCount(0);
    await openRecovery(page, secrets[1].title);
    await showPicture(page, photographs.small, passphrase);
    await expect(refusedAlert).toBeVisible({ timeout: 90_000 });
    await showPicture(page, photographs.friends, newPassphrase);
    expect(await revealSecret(page)).toBe(secrets[1].text);
    await signOut(page);
  });

  const context = await browser.newContext({ baseURL: portal.origin, locale: "en-GB" });
  const otherPage = await context.newPage();
  const passkeysWithoutPrf = await addVirtualPasskeys(otherPage, { prf: false });
  await test.step("another browser, without PRF, cannot be let in by a device, and says to send oneself the picture", async () => {
    await signIn(otherPage, account, { path: "/secrets" });
    await otherPage.getByRole("link", { name: "Unlock with your picture" }).click();
    await otherPage.getByRole("link", { name: "Use a device I have at hand" }).click();
    await otherPage.getByRole("button", { name: "Make a passkey and show the code" }).click();
    await expect(otherPage.getByText(/Send yourself the picture, by any messenger/)).toBeVisible({ timeout: 60_000 });
    await otherPage.getByRole("link", { name: "Unlock with a picture" }).click();
  });

  await test.step("all lost: the recovery code opens the list and what is in it there", async () => {
    await showCode(otherPage, code.replace(/^\w+/, "zebra"));
    await expect(otherPage.getByText(/These are not the 24 words|opens nothing in this account/)).toBeVisible({
      timeout: 60_000,
    });
    await correctAndSubmitCode(otherPage, code);
    await answerDeviceQuestion(otherPage, "My own device");
    await openRecovery(otherPage, secrets[0].title);
    await showCode(otherPage, code);
    expect(await revealSecret(otherPage)).toBe(secrets[0].text);
  });

  await test.step("a passkey without PRF is none: it says what to do, and adds nothing", async () => {
    const addedWays = otherPage.getByText(/^(Passkey|Printed recovery code), added/);
    await openOpeners(otherPage);
    await expect(addedWays).toHaveCount(2);
    await otherPage.getByRole("button", { name: "Make a passkey" }).click();
    await otherPage.getByRole("button", { name: "Make and add" }).click();
    await expect(otherPage.getByText(/cannot make passkeys that open secrets/)).toBeVisible({ timeout: 60_000 });
    await otherPage.goto("/openers");
    await expect(addedWays).toHaveCount(2);
    expect(await passkeysWithoutPrf.count()).toBeLessThan(2);
  });
  await context.close();
});

/** The field keeps what was typed: it is corrected and sent once more. */
async function correctAndSubmitCode(page: Page, code: string): Promise<void> {
  const codeField = page.getByRole("textbox", { name: "Recovery code" });
  await expect(codeField).toHaveValue(/^zebra /);
  await codeField.fill(code);
  await page.getByRole("button", { name: /^(Recover|Unlock)$/ }).click();
}
