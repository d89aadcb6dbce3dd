import type { Page } from "@playwright/test";

import { newAccount, signIn, signOut, signUp } from "../pages/account.ts";
import {
  answerDeviceQuestion,
  openList,
  openRecovery,
  protect,
  revealSecret,
  row,
  showPicture,
} from "../pages/secrets.ts";
import { makeCode, makePasskey, openOpeners, showCode, showPasskey, submitPicture } from "../pages/openers.ts";
import {
  changeInput,
  choosePicture,
  fillInField,
  pictureField,
  pressButton,
  vaultElement,
} from "../pages/picture-field.ts";
import { addVirtualPasskeys } from "../support/passkeys.ts";
import { photographs } from "../support/photographs.ts";
import { expect, test } from "../support/portal-test.ts";
import { createSentinel } from "../support/sentinel.ts";

async function resealWithPicture(page: Page): Promise<void> {
  await page.getByRole("button", { name: "Add the missing ways" }).click();
  await submitPicture(page, "Add them to my secrets");
  await expect(page.getByText(/now opens? in every way/)).toBeVisible({ timeout: 90_000 });
}

/**
 * Messages where a secret is opened, and where a device is unlocked or another operation needs a
 * picture.
 */
const refusedMessage = /Wrong picture or wrong passphrase|This picture and this passphrase do not open it/;

test("openers: any remaining way opens, a replaced one opens nothing, and a device without PRF adds none", async ({
  page,
  browser,
  portal,
}) => {
  const account = newAccount();
  const secrets = [
    { title: `First ${createSentinel()}`, text: `one ${createSentinel()}` },
    { title: `Second ${createSentinel()}`, text: `two ${createSentinel()}` },
  ] as const;
  const [passphrase, newPassphrase] = [`ten stones ${createSentinel()}`, `a boat ${createSentinel()}`];
  const refusedAlert = page.getByRole("alert").filter({ hasText: refusedMessage });
  const passkeys = await addVirtualPasskeys(page);
  let code = "";

  await test.step("a user protects a secret, makes a passkey and a recovery code, and seals the secret to them", async () => {
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

  await test.step("without any picture the passkey unlocks the locked device, whose keys were deleted, and opens", async () => {
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

  await test.step("a lost passkey is reported, and the picture opens", async () => {
    await passkeys.deleteAll();
    await openRecovery(page, secrets[1].title);
    await pictureField(page).getByRole("button", { name: "Use a passkey" }).click();
    await pictureField(page).getByRole("button", { name: "Use the passkey" }).click();
    await expect(pictureField(page).getByText(/No passkey was used/)).toBeVisible({ timeout: 90_000 });
    await pictureField(page).getByRole("button", { name: "Use a picture" }).click();
    await submitPicture(page, "Open");
    expect(await revealSecret(page)).toBe(secrets[1].text);
  });

  await test.step("the picture gets a passphrase: the page says what opens afterwards, and needs the picture as it opens today", async () => {
    await openOpeners(page);
    await page.getByRole("button", { name: "Change the passphrase of The mountains" }).click();
    await expect(page.getByText("“The mountains” will open your secrets only with the new passphrase.")).toBeVisible();
    const newPassphraseField = vaultElement(page, "new_passphrase");
    for (const name of ["New passphrase", "Repeat the new passphrase"])
      await changeInput(page, () => newPassphraseField.getByRole("textbox", { name, exact: true }).fill(passphrase));
    await pressButton(page, "Continue");
    await choosePicture(page, photographs.small);
    await fillInField(page, "Passphrase, if the picture has one", passphrase);
    await pressButton(page, "Change the passphrase");
    await expect(page.getByRole("alert")).toContainText("You typed a passphrase, but the service says", {
      timeout: 90_000,
    });
    await fillInField(page, "Passphrase, if the picture has one", "");
    await pressButton(page, "Change the passphrase");
    await expect(page.getByRole("button", { name: "Change the passphrase of The mountains" })).toBeVisible({
      timeout: 120_000,
    });
    await expect(
      page.getByRole("list", { name: "Ways to open" }).getByRole("listitem").filter({ hasText: "The mountains" }),
    ).toContainText("Opens 2 of 2 secrets.");
  });

  await test.step("the picture opens nothing without the passphrase, and everything with it", async () => {
    await openRecovery(page, secrets[0].title);
    await showPicture(page, photographs.small);
    await expect(refusedAlert).toBeVisible({ timeout: 90_000 });
    await showPicture(page, photographs.small, passphrase);
    expect(await revealSecret(page)).toBe(secrets[0].text);
  });

  await test.step("another picture replaces the first: the old one opens nothing, the new one everything", async () => {
    await openOpeners(page);
    await page.getByRole("button", { name: "Replace picture The mountains" }).click();
    await expect(page.getByText("The new picture will open what “The mountains” opens today")).toBeVisible();
    await choosePicture(page, photographs.friends);
    await expect(pictureField(page).getByText("This picture has enough detail")).toBeVisible({ timeout: 60_000 });
    await fillInField(page, "Passphrase", newPassphrase);
    await fillInField(page, "Repeat the passphrase", newPassphrase);
    await page.getByLabel("Name of the new picture").fill("The friends");
    await pressButton(page, "Continue");
    await expect(page.getByText("Now use “The mountains” with its current passphrase")).toBeVisible();
    const prompt = page.locator("iframe[data-vault-element]").last().contentFrame();
    await changeInput(page, () => prompt.getByLabel("Picture file").setInputFiles(photographs.small));
    await changeInput(page, () =>
      prompt.getByRole("textbox", { name: "Passphrase, if the picture has one" }).fill(passphrase),
    );
    await pressButton(page, "Use the new picture");
    await expect(page.getByRole("button", { name: "Replace picture The friends" })).toBeVisible({
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

  const otherContext = await browser.newContext({ baseURL: portal.origin, locale: "en-GB" });
  const otherPage = await otherContext.newPage();
  const passkeysWithoutPrf = await addVirtualPasskeys(otherPage, { prf: false });
  await test.step("another browser, without PRF, cannot be admitted by a device, and advises to send oneself the picture", async () => {
    await signIn(otherPage, account, { path: "/secrets" });
    await otherPage.getByRole("link", { name: "Unlock with your picture" }).click();
    await otherPage.getByRole("link", { name: "Use another device" }).click();
    await vaultElement(otherPage, "new_passkey").getByRole("button", { name: "Make the passkey" }).click();
    await expect(otherPage.getByText(/Bring a copy of the picture to this device/)).toBeVisible({ timeout: 60_000 });
    await otherPage.getByRole("link", { name: "Unlock with a picture" }).click();
  });

  await test.step("with all else lost the recovery code opens the list and its secrets there", async () => {
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

  await test.step("a passkey without PRF is refused: the page says what to do, and adds nothing", async () => {
    const addedWays = otherPage.getByText(/^(Passkey|Recovery code), added/);
    await openOpeners(otherPage);
    await expect(addedWays).toHaveCount(2);
    await otherPage.getByRole("button", { name: "Make a passkey" }).click();
    const element = vaultElement(otherPage, "new_passkey");
    await element.getByRole("button", { name: "Make the passkey" }).click();
    await expect(element.getByText(/can't make passkeys that open secrets/)).toBeVisible({ timeout: 60_000 });
    await otherPage.goto("/openers");
    await expect(addedWays).toHaveCount(2);
    expect(await passkeysWithoutPrf.count()).toBeLessThan(2);
  });
  await otherContext.close();
});

async function correctAndSubmitCode(page: Page, code: string): Promise<void> {
  const codeField = pictureField(page).getByRole("textbox", { name: "Recovery code" });
  await expect(codeField).toHaveValue(/^zebra /);
  await changeInput(page, () => codeField.fill(code));
  await pressButton(page, /^(Open|Unlock)$/);
}
