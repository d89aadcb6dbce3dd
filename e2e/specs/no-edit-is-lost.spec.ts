import { randomBytes } from "node:crypto";
import { readFile } from "node:fs/promises";

import { newAccount, signIn, signUp } from "../pages/account.ts";
import { navigateInApp } from "../pages/navigation.ts";
import {
  answerDeviceQuestion,
  chooseAction,
  downloadFile,
  openList,
  openRecovery,
  protect,
  revealSecret,
  row,
  saveAsAgeFile,
  showPicture,
} from "../pages/secrets.ts";
import { choosePicture, pressButton } from "../pages/picture-field.ts";
import { hasGo, openExport, openWithAge } from "../support/age.ts";
import { photographs } from "../support/photographs.ts";
import { expect, test } from "../support/portal-test.ts";
import type { Page } from "@playwright/test";

/** @param picture null while a way to open is kept open */
async function openContent(page: Page, picture: string | null): Promise<void> {
  await page.getByRole("button", { name: "Open and change" }).click();
  if (picture !== null) {
    await choosePicture(page, picture);
    await pressButton(page, "Open");
  }
  await expect(page.getByRole("textbox", { name: "Your secret" })).toBeVisible({ timeout: 90_000 });
}

async function saveChanges(page: Page): Promise<void> {
  await page.getByRole("button", { name: "Save changes" }).click();
}

const scanContent = randomBytes(50_000);
const image = { file: photographs.small, passphrase: null };

test("a secret is edited, found, restored from its history, and deleted for good", async ({ page }) => {
  await test.step("two secrets are protected", async () => {
    await signUp(page, newAccount());
    await protect(page, { text: "first words", title: "Diary", tags: ["private"], image });
    await answerDeviceQuestion(page, "My own device");
    await protect(page, { text: "4711", title: "House keys", tags: ["home"], image: null });
  });

  await test.step("leaving with something typed asks first", async () => {
    await navigateInApp(page, "/add-secret");
    await page.getByRole("textbox", { name: "Your secret" }).fill("not to be lost");
    await page
      .getByRole("navigation", { name: "Main navigation" })
      .getByRole("link", { name: "Secrets", exact: true })
      .click();
    const dialog = page.getByRole("alertdialog");
    await dialog.getByRole("button", { name: "Stay" }).click();
    await expect(page.getByRole("textbox", { name: "Your secret" })).toHaveValue("not to be lost");
    await page.getByRole("textbox", { name: "Your secret" }).fill("");
  });

  await test.step("a seed phrase is checked on the device, and protected", async () => {
    await page.getByRole("radio", { name: "Seed phrase" }).check();
    const phraseField = page.getByRole("textbox", { name: "Your seed phrase" });
    await phraseField.fill(`${"abandon ".repeat(11)}ability`);
    await expect(page.getByText("Checksum doesn't match")).toBeVisible();
    await phraseField.fill(`${"abandon ".repeat(11)}about`);
    await expect(page.getByText("12 words in English: the phrase is valid.")).toBeVisible();
    await page.getByLabel("Title").fill("Wallet");
    await page.getByRole("button", { name: "Protect", exact: true }).click();
    await expect(row(page, "Wallet")).toBeVisible({ timeout: 60_000 });
  });

  await test.step("a file is protected, and comes back byte for byte", async () => {
    await navigateInApp(page, "/add-secret");
    await page.getByRole("radio", { name: "File" }).check();
    await page
      .getByLabel("File to protect")
      .setInputFiles({ name: "scan.pdf", mimeType: "application/pdf", buffer: scanContent });
    await expect(page.getByLabel("Title")).toHaveValue("scan");
    await page.getByRole("button", { name: "Protect", exact: true }).click();
    await expect(row(page, "scan")).toBeVisible({ timeout: 60_000 });
    await openRecovery(page, "scan");
    await showPicture(page, photographs.small);
    expect(await downloadFile(page)).toEqual({ name: "scan.pdf", content: scanContent });
  });

  await test.step("a star stays, and several secrets are starred at once", async () => {
    await openList(page);
    await page.getByRole("button", { name: "Favourite: Wallet" }).click();
    await page.getByRole("button", { name: "Select", exact: true }).click();
    await page.getByRole("checkbox", { name: "Select scan" }).check();
    await page.getByRole("checkbox", { name: "Select House keys" }).check();
    await page
      .getByRole("group", { name: "Selected secrets" })
      .getByRole("button", { name: "Add to favourites" })
      .click();
    await expect(
      page.getByRole("group", { name: "Selected secrets" }).getByRole("button", { name: "Remove from favourites" }),
    ).toBeEnabled();
    await page.reload();
    await page.getByRole("button", { name: "Filter" }).click();
    await page.getByRole("switch", { name: "Favourites only" }).click();
    await expect(page.getByText("3 of 4")).toBeVisible();
    await expect(row(page, "Diary")).toBeHidden();
  });

  await test.step("a message on the first screen is closed for good", async () => {
    await navigateInApp(page, "/home");
    const messages = page.getByRole("region", { name: "Messages" });
    await messages.getByRole("button", { name: /^Close/ }).click();
    await expect(messages).toBeHidden();
    await page.reload();
    await expect(page.getByRole("list", { name: "Favourites" })).toBeVisible();
    await expect(messages).toBeHidden();
  });

  await test.step("a title changes without a picture, the content with it", async () => {
    await openList(page);
    await chooseAction(page, "Diary", "Edit");
    await page.getByRole("textbox", { name: "Title" }).fill("Old diary");
    await openContent(page, photographs.small);
    await expect(page.getByRole("textbox", { name: "Your secret" })).toHaveValue("first words");
    await page.getByRole("textbox", { name: "Your secret" }).fill("second words");
    await saveChanges(page);
    await expect(page.getByText("Your changes are saved.").first()).toBeVisible({ timeout: 60_000 });
    await expect(row(page, "Old diary")).toBeVisible();
  });

  await test.step("it is found by a tag, and by the filter", async () => {
    await page.getByRole("searchbox").fill("priv");
    await expect(page.getByText("1 of 4")).toBeVisible();
    await expect(row(page, "House keys")).toBeHidden();
    await page.getByRole("searchbox").fill("");
    await page.getByRole("button", { name: "Filter" }).click();
    await page.getByLabel("Tag", { exact: true }).selectOption("home");
    await expect(row(page, "Old diary")).toBeHidden();
    await page.getByRole("button", { name: "Clear filters" }).click();
    await expect(row(page, "Old diary")).toBeVisible();
  });

  await test.step("two secrets are exported together, and open without the portal", async () => {
    await page.getByRole("button", { name: "Select", exact: true }).click();
    for (const title of ["scan", "Old diary"]) await page.getByRole("checkbox", { name: `Select ${title}` }).check();
    await page.getByRole("group", { name: "Selected secrets" }).getByRole("button", { name: "Export" }).click();
    await choosePicture(page, photographs.small);
    const archiveDownload = page.waitForEvent("download", { timeout: 120_000 });
    await pressButton(page, "Export");
    await expect(page.getByRole("heading", { name: "The archive contains 2 secrets" })).toBeVisible({
      timeout: 90_000,
    });
    const archivePath = await (await archiveDownload).path();
    const identityDownload = page.waitForEvent("download", { timeout: 120_000 });
    await page.getByRole("button", { name: "Save the key (exit.txt)" }).click();
    const identityPath = await (await identityDownload).path();
    const { contents: exported } = await openExport(await readFile(archivePath), await readFile(identityPath, "utf8"));
    expect(exported.get("scan")).toEqual(scanContent);
    expect(exported.get("Old diary")?.toString("utf8")).toBe("second words");
    await page.getByRole("button", { name: "Done", exact: true }).click();
    await expect(row(page, "scan")).toBeVisible();
  });

  await test.step("an older version is shown as old, and restored", async () => {
    await chooseAction(page, "Old diary", "History");
    await page.getByRole("link", { name: "Open version 1" }).click();
    await showPicture(page, photographs.small);
    await expect(page.getByText("This is version 1, not the latest")).toBeVisible({ timeout: 90_000 });
    expect(await revealSecret(page)).toBe("first words");
    await openList(page);
    await chooseAction(page, "Old diary", "History");
    await page.getByRole("button", { name: "Restore version 1" }).click();
    await expect(page.getByText("you can leave this empty")).toBeVisible();
    await page.getByRole("button", { name: "Restore", exact: true }).first().click();
    await expect(page.getByRole("heading", { name: "Version 3" })).toBeVisible({ timeout: 90_000 });
    await openRecovery(page, "Old diary");
    await showPicture(page, photographs.small);
    expect(await revealSecret(page)).toBe("first words");
  });

  await test.step("the age file opens with the standard tool", async () => {
    const { sealed, identity, size } = await saveAsAgeFile(page);
    const { plain, tool } = await openWithAge(sealed, identity);
    expect(tool).toBe((await hasGo()) ? "age" : "typage");
    expect(plain.subarray(0, size).toString("utf8")).toBe("first words");
  });

  await test.step("the trash restores secrets, and shows the titles before it is emptied", async () => {
    await openList(page);
    for (const title of ["Old diary", "House keys"]) {
      await chooseAction(page, title, "Move to trash");
      await page.getByRole("alertdialog").getByRole("button", { name: "Move to trash" }).click();
      await expect(row(page, title)).toBeHidden();
    }
    await page.getByRole("button", { name: "Trash (2)" }).click();
    await chooseAction(page, "House keys", "Restore");
    await expect(row(page, "House keys")).toBeHidden();
    await page.getByRole("button", { name: "Empty the trash" }).click();
    const dialog = page.getByRole("alertdialog");
    await expect(dialog.getByText("Old diary")).toBeVisible();
    await expect(dialog.getByText("House keys")).toBeHidden();
    await dialog.getByRole("button", { name: "Delete for good" }).click();
    await expect(page.getByText("Deleted for good.").first()).toBeVisible({ timeout: 60_000 });
    await page.reload();
    await expect(page.getByText("3 secrets", { exact: true })).toBeVisible();
    await expect(page.getByRole("button", { name: /^Trash/ })).toBeHidden();
  });

  await test.step("after a reload titles change freely, and what seals asks for one way to open, once", async () => {
    await chooseAction(page, "House keys", "Edit");
    await page.getByRole("textbox", { name: "Title" }).fill("Keys of the house");
    await saveChanges(page);
    await expect(row(page, "Keys of the house")).toBeVisible({ timeout: 60_000 });
    await chooseAction(page, "Keys of the house", "Move to trash");
    await page.getByRole("alertdialog").getByRole("button", { name: "Move to trash" }).click();
    const question = page.getByText("Delete this secret from the trash?");
    await expect(question).toBeVisible({ timeout: 60_000 });
    await page.getByRole("button", { name: "Delete in 30 days" }).click();
    const prompt = page.getByRole("group", { name: /^Show one way to open/ });
    await choosePicture(prompt, photographs.small);
    await pressButton(prompt, "Continue");
    await expect(question).toBeHidden({ timeout: 60_000 });
    await page.getByRole("button", { name: "Trash (1)" }).click();
    await chooseAction(page, "Keys of the house", "Delete for good");
    await page.getByRole("alertdialog").getByRole("button", { name: "Delete for good" }).click();
    await expect(page.getByText("Deleted for good.").first()).toBeVisible({ timeout: 60_000 });
    await protect(page, { text: "other words", title: "Another", tags: [], image: null });
  });
});

test("two devices edit the same secret, and neither loses a word", async ({ page, browser, portal }) => {
  const account = newAccount();
  await signUp(page, account);
  await protect(page, { text: "as it was", title: "Shopping", tags: [], image });
  await answerDeviceQuestion(page, "My own device");

  const otherContext = await browser.newContext({ baseURL: portal.origin });
  const otherPage = await otherContext.newPage();
  await test.step("another device unlocks and begins to edit", async () => {
    await signIn(otherPage, account, { path: "/secrets" });
    await otherPage.getByRole("link", { name: "Unlock with your picture" }).click();
    await showPicture(otherPage, photographs.small);
    await answerDeviceQuestion(otherPage, "My own device");
    await chooseAction(otherPage, "Shopping", "Edit");
    await openContent(otherPage, null);
    await otherPage.getByRole("textbox", { name: "Your secret" }).fill("of the other device");
  });

  await test.step("this device saves first", async () => {
    await openList(page);
    await chooseAction(page, "Shopping", "Edit");
    await page.getByRole("button", { name: "Replace" }).click();
    await page.getByRole("textbox", { name: "Your secret" }).fill("of this device");
    await saveChanges(page);
    await expect(page.getByText("Your changes are saved.").first()).toBeVisible({ timeout: 60_000 });
  });

  await test.step("the other device sees both versions, and saves its own as the newest", async () => {
    await saveChanges(otherPage);
    await expect(otherPage.getByRole("heading", { name: "Another device saved first" })).toBeVisible({
      timeout: 60_000,
    });
    const savedVersionRegion = otherPage.getByRole("region", { name: "What is saved now" });
    await savedVersionRegion.getByRole("button", { name: "Show it" }).click();
    expect(await revealSecret(savedVersionRegion)).toBe("of this device");
    await otherPage.getByRole("button", { name: "Save mine", exact: true }).click();
    await expect(otherPage.getByText("Your changes are saved.").first()).toBeVisible({ timeout: 60_000 });
  });

  await test.step("two tabs rename and tag the secret: both changes are kept", async () => {
    await page.goto("/secrets"); // reads the changes of other devices
    const tab = await page.context().newPage();
    await tab.goto("/secrets");
    for (const editingPage of [page, tab]) {
      await chooseAction(editingPage, "Shopping", "Edit");
      await expect(editingPage.getByRole("textbox", { name: "Title" })).toHaveValue("Shopping");
    }
    await page.getByRole("textbox", { name: "Title" }).fill("Shopping list");
    await saveChanges(page);
    await expect(row(page, "Shopping list")).toBeVisible({ timeout: 60_000 });
    await tab.getByLabel("Tags").fill("kitchen");
    await tab.getByLabel("Tags").press("Enter");
    await saveChanges(tab);
    await expect(tab.getByRole("heading", { name: "Another device saved first" })).toBeVisible({ timeout: 60_000 });
    await expect(tab.getByRole("region", { name: "What is saved now" }).getByText("Shopping list")).toBeVisible();
    await expect(tab.getByRole("region", { name: "What you were about to save" }).getByText("kitchen")).toBeVisible();
    await tab.getByRole("button", { name: "Save mine", exact: true }).click();
    await expect(row(tab, "Shopping list").getByText("kitchen")).toBeVisible({ timeout: 60_000 });
    await tab.close();
  });

  await test.step("all three versions are in the history", async () => {
    await page.goto("/secrets"); // reads the changes of other devices
    await chooseAction(page, "Shopping", "History");
    await expect(page.getByRole("heading", { name: /^Version \d/ })).toHaveText([
      "Version 3",
      "Version 2",
      "Version 1",
    ]);
    await openRecovery(page, "Shopping");
    await showPicture(page, photographs.small);
    expect(await revealSecret(page)).toBe("of the other device");
  });
  await otherContext.close();
});
