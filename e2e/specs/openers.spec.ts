import type { Browser, Page } from "@playwright/test";

import { newAccount, signIn, signOut, signUp, type Account } from "../pages/account.ts";
import { answerDevice, openRecovery, protect, revealed, row, showPicture } from "../pages/secrets.ts";
import { withPasskeys } from "../support/passkeys.ts";
import { photographs } from "../support/photographs.ts";
import { expect, test } from "../support/portal-test.ts";
import { sentinel } from "../support/sentinel.ts";

async function openOpeners(page: Page): Promise<void> {
  await page.goto("/openers");
  await expect(page.getByRole("region", { name: "Ways to open" })).toBeVisible();
}

/** Shows the picture where the page asks for one, and presses the button. */
async function showHere(page: Page, button: string, picture: string = photographs.mountains): Promise<void> {
  await page.getByLabel("Picture file").setInputFiles(picture);
  await page.getByRole("button", { name: button, exact: true }).click();
}

async function makePasskey(page: Page): Promise<void> {
  await openOpeners(page);
  await page.getByRole("button", { name: "Make a passkey" }).click();
  await page.getByRole("button", { name: "Make and add" }).click();
  await expect(page.getByText("To add it, show something that opens your secrets today.")).toBeVisible();
  await showHere(page, "Make and add");
  await expect(page.getByText(/^Passkey, added/)).toBeVisible({ timeout: 90_000 });
}

/** Makes a code, types two of its words back, and gives all of them. */
async function makeCode(page: Page): Promise<string> {
  await openOpeners(page);
  await page.getByRole("button", { name: "Make a recovery code" }).click();
  const words = await page.getByRole("list", { name: "The 24 words" }).getByRole("listitem").allTextContents();
  expect(words).toHaveLength(24);
  await page.getByRole("button", { name: "I have them on paper" }).click();
  for (const field of await page.getByRole("textbox", { name: /^Word \d+$/ }).all()) {
    const label = await field.evaluate((input: HTMLInputElement) => input.labels?.[0]?.textContent ?? "");
    await field.fill(words[Number(/\d+/.exec(label)?.[0]) - 1] ?? "");
  }
  await page.getByRole("button", { name: "Go on" }).click();
  await page.getByRole("button", { name: "Add the code" }).click();
  const asked = page.getByText("To add it, show something that opens your secrets today.");
  const listed = page.getByText(/^Printed recovery code, added/);
  await expect(asked.or(listed)).toBeVisible({ timeout: 30_000 });
  if (await asked.isVisible()) await showHere(page, "Add the code");
  await expect(listed).toBeVisible({ timeout: 90_000 });
  return words.join(" ");
}

async function coverWithPicture(page: Page): Promise<void> {
  await page.getByRole("button", { name: "Seal what is not covered" }).click();
  await showHere(page, "Show it and seal");
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

test("openers: whatever is left opens the list and every secret that was sealed to it", async ({ page, browser, portal }) => {
  test.setTimeout(600_000);
  const account = newAccount();
  const secrets = [{ title: `First ${sentinel()}`, text: `one ${sentinel()}` }, { title: `Second ${sentinel()}`, text: `two ${sentinel()}` }] as const;
  const device = await withPasskeys(page);
  let code = "";

  await test.step("a person protects a secret, makes a passkey and a recovery code, and covers what was there", async () => {
    await signUp(page, account);
    await protect(page, { ...secrets[0], tags: [], image: { file: photographs.mountains, passphrase: null } });
    await answerDevice(page, "My own device");
    await makePasskey(page);
    expect(await device.count()).toBe(1);
    code = await makeCode(page);
    await coverWithPicture(page);
    await protect(page, { ...secrets[1], tags: [], image: null });
  });

  await test.step("every picture lost: the passkey unlocks the locked device, whose keys were gone, and opens both", async () => {
    await page.getByRole("button", { name: "Lock", exact: true }).click();
    await page.goto("/secrets");
    await expect(page.getByText("This device is locked")).toBeVisible();
    await page.getByRole("link", { name: "Unlock with your picture" }).click();
    await showPasskey(page);
    for (const { title } of secrets) await expect(row(page, title)).toBeVisible({ timeout: 60_000 });
    for (const { title, text } of secrets) {
      await openRecovery(page, title);
      await showPasskey(page);
      expect(await revealed(page)).toBe(text);
    }
  });

  await test.step("the passkey lost: it says so, and the picture opens", async () => {
    await device.lose();
    await openRecovery(page, secrets[1].title);
    await page.getByRole("button", { name: "Use a passkey" }).click();
    await page.getByRole("button", { name: "Ask for the passkey" }).click();
    await expect(page.getByText(/No passkey was given/)).toBeVisible({ timeout: 90_000 });
    await page.getByRole("button", { name: "Use a picture" }).click();
    await showHere(page, "Recover");
    expect(await revealed(page)).toBe(secrets[1].text);
    await signOut(page);
  });

  await test.step("both lost: the recovery code opens list and secrets in another browser", async () => {
    const context = await browser.newContext({ baseURL: portal.origin, locale: "en-GB" });
    const other = await context.newPage();
    await signIn(other, account);
    await other.goto("/secrets");
    await other.getByRole("link", { name: "Unlock with your picture" }).click();
    await showCode(other, code.replace(/^\w+/, "zebra"));
    await expect(other.getByText(/These are not the 24 words|opens nothing in this account/)).toBeVisible({ timeout: 60_000 });
    await showWhatIsTyped(other, code);
    await answerDevice(other, "My own device");
    for (const { title, text } of secrets) {
      await openRecovery(other, title);
      await showCode(other, code);
      expect(await revealed(other)).toBe(text);
    }
    await context.close();
  });
});

/** The field keeps what was typed: it is corrected and sent once more. */
async function showWhatIsTyped(page: Page, code: string): Promise<void> {
  const words = page.getByRole("textbox", { name: "Recovery code" });
  await expect(words).toHaveValue(/^zebra /);
  await words.fill(code);
  await page.getByRole("button", { name: /^(Recover|Unlock)$/ }).click();
}

test("openers: a device whose passkeys have no PRF says what to do, and adds nothing", async ({ page }) => {
  test.setTimeout(300_000);
  const device = await withPasskeys(page, { prf: false });
  await signUp(page, newAccount());
  await protect(page, { title: "Only", text: "one", tags: [], image: { file: photographs.mountains, passphrase: null } });
  await answerDevice(page, "My own device");
  await openOpeners(page);
  await page.getByRole("button", { name: "Make a passkey" }).click();
  await page.getByRole("button", { name: "Make and add" }).click();
  await expect(page.getByText(/cannot make passkeys that open secrets/)).toBeVisible({ timeout: 60_000 });
  await openOpeners(page);
  await expect(page.getByText(/There is only one way to open your secrets/)).toBeVisible();
  expect(await device.count()).toBeLessThan(2);
});

/** Where a secret is opened, and where a device is unlocked or an act asks for a picture. */
const refused = /Not this picture, or not this passphrase|This picture and passphrase together do not open it/;

/** A browser that has never seen the account, signed in and asked for something that unlocks it. */
async function anotherBrowser(browser: Browser, origin: string, account: Account): Promise<Page> {
  const page = await (await browser.newContext({ baseURL: origin, locale: "en-GB" })).newPage();
  await signIn(page, account);
  await page.goto("/secrets");
  await page.getByRole("link", { name: "Unlock with your picture" }).click();
  return page;
}

async function opensAll(page: Page, secrets: readonly { readonly title: string; readonly text: string }[], picture: string, passphrase: string): Promise<void> {
  for (const { title, text } of secrets) {
    await openRecovery(page, title);
    await showPicture(page, picture, passphrase);
    expect(await revealed(page)).toBe(text);
  }
}

test("openers: another passphrase, then another picture, in the place of one: the old one opens nothing, here and elsewhere", async ({ page, browser, portal }) => {
  test.setTimeout(600_000);
  const account = newAccount();
  const secrets = [{ title: `First ${sentinel()}`, text: `one ${sentinel()}` }, { title: `Second ${sentinel()}`, text: `two ${sentinel()}` }] as const;
  const [before, after, third] = [`nine stones ${sentinel()}`, `ten stones ${sentinel()}`, `a boat ${sentinel()}`];
  const wrong = page.getByRole("alert").filter({ hasText: refused });

  await test.step("two secrets, opened by a picture with a passphrase", async () => {
    await signUp(page, account);
    await protect(page, { ...secrets[0], tags: [], image: { file: photographs.small, passphrase: before, name: "The mountains" } });
    await answerDevice(page, "My own device");
    await protect(page, { ...secrets[1], tags: [], image: null });
  });

  await test.step("the passphrase is changed: it says what opens afterwards, and asks for the picture as it is now", async () => {
    await openOpeners(page);
    await page.getByRole("button", { name: "Change the passphrase of The mountains" }).click();
    await expect(page.getByText("Afterwards The mountains opens your secrets with the new passphrase alone.")).toBeVisible();
    await page.getByRole("textbox", { name: "New passphrase", exact: true }).fill(after);
    await page.getByRole("textbox", { name: "New passphrase again" }).fill(after);
    await page.getByRole("button", { name: "Go on", exact: true }).click();
    await page.getByLabel("Picture file").setInputFiles(photographs.small);
    const typed = page.getByRole("textbox", { name: "Passphrase, if the picture has one" });
    await typed.fill(after);
    await page.getByRole("button", { name: "Change the passphrase", exact: true }).click();
    await expect(wrong).toBeVisible({ timeout: 90_000 });
    await typed.fill(before);
    await page.getByRole("button", { name: "Change the passphrase", exact: true }).click();
    await expect(page.getByRole("button", { name: "Change the passphrase of The mountains" })).toBeVisible({ timeout: 120_000 });
    await expect(page.getByText("Opens 2 of 2 secrets.")).toBeVisible();
  });

  await test.step("in the same browser the old passphrase opens nothing, and the new one everything", async () => {
    await openRecovery(page, secrets[0].title);
    await showPicture(page, photographs.small, before);
    await expect(wrong).toBeVisible({ timeout: 90_000 });
    await opensAll(page, secrets, photographs.small, after);
  });

  await test.step("in another browser too", async () => {
    const other = await anotherBrowser(browser, portal.origin, account);
    await showPicture(other, photographs.small, before);
    await expect(other.getByRole("alert").filter({ hasText: refused })).toBeVisible({ timeout: 90_000 });
    await showPicture(other, photographs.small, after);
    await answerDevice(other, "My own device");
    await opensAll(other, secrets, photographs.small, after);
    await other.context().close();
  });

  await test.step("another picture takes its place", async () => {
    await openOpeners(page);
    await page.getByRole("button", { name: "Use another picture instead of The mountains" }).click();
    await expect(page.getByText("Afterwards the new picture opens what The mountains opens today")).toBeVisible();
    await page.getByLabel("Picture file").setInputFiles(photographs.friends);
    await expect(page.getByText("This picture is good")).toBeVisible({ timeout: 60_000 });
    await page.getByRole("textbox", { name: "Passphrase", exact: true }).fill(third);
    await page.getByRole("textbox", { name: "Passphrase again" }).fill(third);
    await page.getByLabel("Name of the new picture").fill("The friends");
    await page.getByRole("button", { name: "Go on", exact: true }).click();
    await expect(page.getByText("Now show The mountains as it opens today")).toBeVisible();
    await page.getByLabel("Picture file").last().setInputFiles(photographs.small);
    await page.getByRole("textbox", { name: "Passphrase, if the picture has one" }).fill(after);
    await page.getByRole("button", { name: "Use the new picture", exact: true }).click();
    await expect(page.getByRole("button", { name: "Use another picture instead of The friends" })).toBeVisible({ timeout: 120_000 });
    await expect(page.getByText("The mountains")).toHaveCount(0);
  });

  await test.step("in the same browser the old picture opens nothing, and the new one everything", async () => {
    await openRecovery(page, secrets[1].title);
    await showPicture(page, photographs.small, after);
    await expect(wrong).toBeVisible({ timeout: 90_000 });
    await opensAll(page, secrets, photographs.friends, third);
  });

  await test.step("in another browser too", async () => {
    const other = await anotherBrowser(browser, portal.origin, account);
    await showPicture(other, photographs.small, after);
    await expect(other.getByRole("alert").filter({ hasText: refused })).toBeVisible({ timeout: 90_000 });
    await showPicture(other, photographs.friends, third);
    await answerDevice(other, "My own device");
    await opensAll(other, secrets, photographs.friends, third);
    await other.context().close();
  });
});
