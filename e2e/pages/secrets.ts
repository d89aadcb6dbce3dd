import { readFile } from "node:fs/promises";

import { expect, type Locator, type Page } from "@playwright/test";

import type { UploadedFile } from "../support/photographs.ts";
import { recordTyped } from "../support/telemetry.ts";
import { navigateInApp } from "./navigation.ts";
import {
  changeInput,
  choosePicture,
  fillInField,
  openedContent,
  pictureField,
  pressButton,
  pressInOpened,
  pressInView,
  vaultElement,
  waitUntilStill,
} from "./picture-field.ts";

export interface NewSecret {
  readonly text: string;
  readonly title: string;
  readonly tags: readonly string[];
  /** A new image with its passphrase, or `null` for the existing images. */
  readonly image: { readonly file: string; readonly passphrase: string | null; readonly name?: string } | null;
}

/** Fills in the form of a secret; does not save. */
export async function fillSecret(page: Page, secret: NewSecret): Promise<void> {
  await navigateInApp(page, "/add-secret");
  recordTyped(secret.text, secret.title, secret.image?.name);
  await page.getByLabel("Your secret").fill(secret.text);
  await page.getByLabel("Title").fill(secret.title);
  for (const tag of secret.tags) {
    await page.getByLabel("Tags").fill(tag);
    await page.getByLabel("Tags").press("Enter");
  }
  if (secret.image === null) return;
  const newImageOption = page.getByRole("radio", { name: /A new picture/ });
  if (await newImageOption.isVisible()) await newImageOption.check();
  const field = pictureField(page);
  await choosePicture(page, secret.image.file);
  await expect(field.getByText("This picture has enough detail")).toBeVisible({ timeout: 60_000 });
  if (secret.image.passphrase === null) {
    await changeInput(page, () => field.getByRole("checkbox", { name: /Continue without a passphrase/ }).check());
  } else {
    await fillInField(page, "Passphrase", secret.image.passphrase);
    await fillInField(page, "Repeat the passphrase", secret.image.passphrase);
  }
  if (secret.image.name !== undefined) await page.getByLabel("Name of the picture").fill(secret.image.name);
}

/** Answers the prompt that comes before the first change since the page was loaded. */
export async function showOpenerFirst(page: Page, opener: string | UploadedFile): Promise<void> {
  const openerPrompt = page.getByRole("region", { name: "First show one way to open" });
  await choosePicture(openerPrompt, opener);
  await pressButton(openerPrompt, "Use it and save");
}

/** @param opener a picture in use, for a device that asks for one before it adds another */
export async function protect(
  page: Page,
  secret: NewSecret,
  opener: string | UploadedFile | null = null,
): Promise<void> {
  if (opener !== null) await page.reload(); // releases the openers that were presented before
  await fillSecret(page, secret);
  const firstSecretCheckbox = page.getByRole("checkbox", {
    name: /I have never protected anything in this account/,
  });
  if (await firstSecretCheckbox.isVisible()) await pressInView(firstSecretCheckbox, () => firstSecretCheckbox.check());
  await pressButton(page, "Protect");
  if (opener !== null) await showOpenerFirst(page, opener);
  await expect(page).not.toHaveURL(/\/add-secret$/, { timeout: 90_000 });
}

export interface NewFile {
  readonly title: string;
  readonly name: string;
  readonly content: Buffer;
}

/** Uses the existing images. */
export async function protectFile(page: Page, { title, name, content }: NewFile): Promise<void> {
  recordTyped(title, name);
  await navigateInApp(page, "/add-secret");
  await page.getByRole("radio", { name: "File", exact: true }).check();
  await page
    .getByLabel("File to protect")
    .setInputFiles({ name, mimeType: "application/octet-stream", buffer: content });
  await page.getByLabel("Title").fill(title);
  await page.getByRole("button", { name: "Protect", exact: true }).click();
  await expect(row(page, title)).toBeVisible({ timeout: 90_000 });
}

/** Has this device ask for a way to open before each opening. */
export async function askEveryTime(page: Page): Promise<void> {
  await navigateInApp(page, "/settings/security");
  await page.getByLabel("Ask for a way to open").selectOption({ label: "Every time" });
}

/** The vault's question about the mark, before a browser adopts an account that it doesn't know. */
function markQuestion(page: Page): Locator {
  return page.getByRole("dialog", { name: "Is this your mark?" });
}

export async function answerMarkQuestion(
  page: Page,
  answer: "Yes, it is mine" | "No, it is not mine" = "Yes, it is mine",
): Promise<void> {
  const question = markQuestion(page);
  await vaultElement(question, "mark_question").getByRole("button", { name: answer }).click({ timeout: 90_000 });
  await expect(question).toBeHidden();
}

/**
 * Answers the question that follows the first protecting or unlocking in a browser, and before it
 * that about the mark.
 */
export async function answerDeviceQuestion(page: Page, answer: "My own device" | "A shared device"): Promise<void> {
  const button = page.getByRole("button", { name: answer });
  await expect(button.or(markQuestion(page))).toBeVisible({ timeout: 90_000 });
  if (await markQuestion(page).isVisible()) await answerMarkQuestion(page);
  await button.click({ timeout: 90_000 });
  await expect(button).toBeHidden();
}

export function row(page: Page, title: string): Locator {
  return page.getByRole("listitem").filter({ hasText: title });
}

export async function openList(page: Page): Promise<void> {
  if (new URL(page.url()).pathname !== "/secrets") await navigateInApp(page, "/secrets");
}

/** Chooses an entry of the menu of a row. */
export async function chooseAction(page: Page, title: string, action: string): Promise<void> {
  await row(page, title)
    .getByRole("button", { name: /^More for/ })
    .click();
  await page.getByRole("menuitem", { name: action }).click();
}

export async function openRecovery(page: Page, title: string): Promise<void> {
  await openList(page);
  await chooseAction(page, title, "Open");
  await expect(page.getByRole("heading", { level: 1, name: "Open your secret" })).toBeVisible();
}

export async function showPicture(
  page: Page,
  picture: string | UploadedFile,
  passphrase: string | null = null,
): Promise<void> {
  await choosePicture(page, picture);
  if (passphrase !== null) await fillInField(page, "Passphrase, if the picture has one", passphrase);
  await pressButton(page, /^(Open|Unlock)$/);
}

/** Drags the sides of the frame on the shown picture to these fractions of its width and height. */
export async function drawFrame(
  page: Page,
  frame: Readonly<Record<"left" | "top" | "right" | "bottom", number>>,
): Promise<void> {
  const picture = pictureField(page)
    .getByRole("group", { name: "Is your picture inside this one?" })
    .getByRole("img", { name: "The chosen picture" });
  await waitUntilStill(picture);
  const names = { left: "Left side", top: "Upper side", right: "Right side", bottom: "Lower side" } as const;
  for (const side of ["left", "top", "right", "bottom"] as const) {
    const handle = pictureField(page).getByRole("slider", { name: names[side] });
    const [pictureBox, handleBox] = [await picture.boundingBox(), await handle.boundingBox()];
    if (pictureBox === null || handleBox === null) throw new Error("the frame is not shown");
    const center = { x: handleBox.x + handleBox.width / 2, y: handleBox.y + handleBox.height / 2 };
    const isHorizontal = side === "left" || side === "right";
    await page.mouse.move(center.x, center.y);
    await page.mouse.down();
    await page.mouse.move(
      isHorizontal ? pictureBox.x + frame[side] * pictureBox.width : center.x,
      isHorizontal ? center.y : pictureBox.y + frame[side] * pictureBox.height,
      { steps: 4 },
    );
    await page.mouse.up();
    await expect
      .poll(async () => Math.abs(Number(await handle.getAttribute("aria-valuenow")) - frame[side] * 100))
      .toBeLessThan(1); // moves the handles of its neighbours too
  }
}

export async function revealSecret(scope: Page | Locator): Promise<string> {
  await pressInOpened(scope, "Show");
  return (await openedContent(scope).getByLabel("Content of the secret").textContent()) ?? "";
}

/** Reveals a hidden field of an opened record, and returns its value. */
export async function revealField(page: Page, name: string): Promise<string> {
  const field = openedContent(page).getByRole("group", { name, exact: true });
  const button = field.getByRole("button", { name: "Show", exact: true });
  await expect(button).toBeEnabled({ timeout: 90_000 });
  await pressInView(button, () => button.click());
  return (await field.textContent()) ?? "";
}

export interface AgeFile {
  readonly sealed: Buffer;
  readonly identity: string;
  /** Size of the content in bytes, from the shown command. */
  readonly size: number;
}

/** Saves the opened secret as an age file, and returns the file with its identity. */
export async function saveAsAgeFile(page: Page): Promise<AgeFile> {
  await pressInOpened(page, "Save as an .age file");
  const saveDownload = async (button: string): Promise<Buffer> => {
    const [download] = await Promise.all([page.waitForEvent("download"), pressInOpened(page, button)]);
    return readFile(await download.path());
  };
  const sealed = await saveDownload("Save the encrypted file");
  const identity = (await saveDownload("Save its key")).toString("utf8");
  const command = await openedContent(page).getByLabel("Command that opens the file").textContent();
  return { sealed, identity, size: Number(/head -c (\d+)$/.exec(command ?? "")?.[1]) };
}

export async function downloadFile(page: Page): Promise<{ readonly name: string; readonly content: Buffer }> {
  const [download] = await Promise.all([
    page.waitForEvent("download", { timeout: 90_000 }),
    pressInOpened(page, "Save the file"),
  ]);
  return { name: download.suggestedFilename(), content: await readFile(await download.path()) };
}
