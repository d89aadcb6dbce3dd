import { readFile } from "node:fs/promises";

import { expect, type Locator, type Page } from "@playwright/test";

import type { UploadedFile } from "../support/photographs.ts";
import { navigateInApp } from "./navigation.ts";

export interface NewSecret {
  readonly text: string;
  readonly title: string;
  readonly tags: readonly string[];
  /** A new image with its passphrase, or null to use the images that are there. */
  readonly image: { readonly file: string; readonly passphrase: string | null; readonly name?: string } | null;
}

/** Fills the form of "protect a secret", as far as saving. */
export async function fillSecret(page: Page, secret: NewSecret): Promise<void> {
  await navigateInApp(page, "/add-secret");
  await page.getByLabel("Your secret").fill(secret.text);
  await page.getByLabel("Title").fill(secret.title);
  for (const tag of secret.tags) {
    await page.getByLabel("Tags").fill(tag);
    await page.getByLabel("Tags").press("Enter");
  }
  if (secret.image === null) return;
  const newImageOption = page.getByRole("radio", { name: /A new image/ });
  if (await newImageOption.isVisible()) await newImageOption.check();
  await page.getByLabel("Picture file").setInputFiles(secret.image.file);
  await expect(page.getByText("This picture is good")).toBeVisible({ timeout: 60_000 });
  if (secret.image.passphrase === null) {
    await page.getByRole("checkbox", { name: /Go without a passphrase/ }).check();
  } else {
    await page.getByRole("textbox", { name: "Passphrase", exact: true }).fill(secret.image.passphrase);
    await page.getByRole("textbox", { name: "Passphrase again" }).fill(secret.image.passphrase);
  }
  if (secret.image.name !== undefined) await page.getByLabel("Name of the image").fill(secret.image.name);
}

/** @param opener a picture in use, for a device that asks for one before it adds another */
export async function protect(
  page: Page,
  secret: NewSecret,
  opener: string | UploadedFile | null = null,
): Promise<void> {
  if (opener !== null) await page.reload(); // which forgets what was shown before
  await fillSecret(page, secret);
  const firstSecretCheckbox = page.getByRole("checkbox", {
    name: /I have not protected anything in this account before/,
  });
  if (await firstSecretCheckbox.isVisible()) await firstSecretCheckbox.check();
  await page.getByRole("button", { name: "Protect", exact: true }).click();
  if (opener !== null) {
    const openerPrompt = page.getByRole("region", { name: "First show a picture that you use already" });
    await openerPrompt.getByLabel("Picture file").setInputFiles(opener);
    await openerPrompt.getByRole("button", { name: "Show it and save" }).click();
  }
  // or what was said of the secret before: it is shown for a while
  const confirmation = page.getByText("Your secret is protected.").first();
  await Promise.all([
    expect(confirmation).toBeVisible({ timeout: 90_000 }),
    expect(page).not.toHaveURL(/\/add-secret$/, { timeout: 90_000 }),
  ]);
}

export interface NewFile {
  readonly title: string;
  readonly name: string;
  readonly content: Buffer;
}

/** Protects a file with the images that are there. */
export async function protectFile(page: Page, { title, name, content }: NewFile): Promise<void> {
  await navigateInApp(page, "/add-secret");
  await page.getByRole("radio", { name: "File", exact: true }).check();
  await page
    .getByLabel("File to protect")
    .setInputFiles({ name, mimeType: "application/octet-stream", buffer: content });
  await page.getByLabel("Title").fill(title);
  await page.getByRole("button", { name: "Protect", exact: true }).click();
  await expect(row(page, title)).toBeVisible({ timeout: 90_000 });
}

/** Answers the question that follows the first protecting or unlocking in a browser. */
export async function answerDeviceQuestion(page: Page, answer: "My own device" | "A shared computer"): Promise<void> {
  const button = page.getByRole("button", { name: answer });
  await button.click({ timeout: 90_000 });
  await expect(button).toBeHidden();
}

export function row(page: Page, title: string): Locator {
  return page.getByRole("listitem").filter({ hasText: title });
}

/** Goes to the list, where the page does not show it. */
export async function openList(page: Page): Promise<void> {
  if (new URL(page.url()).pathname !== "/secrets") await navigateInApp(page, "/secrets");
}

export async function openRecovery(page: Page, title: string): Promise<void> {
  await openList(page);
  await row(page, title)
    .getByRole("button", { name: /More for/ })
    .click();
  await page.getByRole("menuitem", { name: "Recover" }).click();
  await expect(page.getByRole("heading", { level: 1, name: "Recover your secret" })).toBeVisible();
}

/** Shows a picture on a page that asks for one, and sends it. */
export async function showPicture(
  page: Page,
  picture: string | UploadedFile,
  passphrase: string | null = null,
): Promise<void> {
  await page.getByLabel("Picture file").setInputFiles(picture);
  if (passphrase !== null)
    await page.getByRole("textbox", { name: "Passphrase, if the picture has one" }).fill(passphrase);
  await page.getByRole("button", { name: /^(Recover|Unlock)$/ }).click();
}

/** Drags the sides of the frame on the shown picture to these parts of its width and height. */
export async function drawFrame(
  page: Page,
  frame: Readonly<Record<"left" | "top" | "right" | "bottom", number>>,
): Promise<void> {
  const picture = page.getByRole("img", { name: "The picture you chose" });
  await picture.scrollIntoViewIfNeeded();
  const names = { left: "Left side", top: "Upper side", right: "Right side", bottom: "Lower side" } as const;
  for (const side of ["left", "top", "right", "bottom"] as const) {
    const handle = page.getByRole("slider", { name: names[side] });
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
      .toBeLessThan(1); // it moves the middle of its neighbours
  }
}

/** The content of the opened secret, revealed. */
export async function revealSecret(page: Page): Promise<string> {
  await page.getByRole("button", { name: "Show", exact: true }).click({ timeout: 90_000 });
  return (await page.getByLabel("Content of the secret").textContent()) ?? "";
}

export interface AgeFile {
  readonly sealed: Buffer;
  /** Text of the file of its identity. */
  readonly identity: string;
  /** Bytes of the content, as the shown command cuts it. */
  readonly size: number;
}

/** Saves the opened secret as an age file, with its identity. */
export async function saveAsAgeFile(page: Page): Promise<AgeFile> {
  await page.getByRole("button", { name: "Save as age file" }).click();
  const save = async (button: string): Promise<Buffer> => {
    const [download] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("button", { name: button }).click(),
    ]);
    return readFile(await download.path());
  };
  const sealed = await save("Save the sealed file");
  const identity = (await save("Save its identity")).toString("utf8");
  const command = await page.getByLabel("Command that opens the file").textContent();
  await page.keyboard.press("Escape");
  return { sealed, identity, size: Number(/head -c (\d+)$/.exec(command ?? "")?.[1]) };
}

/** Downloads the file of the opened secret. */
export async function downloadFile(page: Page): Promise<{ readonly name: string; readonly content: Buffer }> {
  const [download] = await Promise.all([
    page.waitForEvent("download", { timeout: 90_000 }),
    page.getByRole("button", { name: "Download" }).click({ timeout: 90_000 }),
  ]);
  return { name: download.suggestedFilename(), content: await readFile(await download.path()) };
}
