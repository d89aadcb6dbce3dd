import path from "node:path";

import { expect, type Page } from "@playwright/test";

import type { UploadedFile } from "../support/photographs.ts";
import { navigateInApp } from "./navigation.ts";
import { choosePicture, fillInField } from "./picture-field.ts";

export interface SavedKit {
  /** Path of the saved file. */
  readonly file: string;
  /** SHA-256 of the file, as the portal shows it. */
  readonly sha256: string;
}

/** Saves a kit of all secrets into a folder as `kit.html`. */
export async function makeKit(
  page: Page,
  folder: string,
  picture: string,
  passphrase: string | null,
  note = "",
): Promise<SavedKit> {
  await navigateInApp(page, "/safeguard");
  await page.getByLabel("Note written on the kit (optional)").fill(note); // before an element keeps the keyboard
  await choosePicture(page, picture);
  if (passphrase !== null) await fillInField(page, "Passphrase, if the picture has one", passphrase);
  const [download] = await Promise.all([
    page.waitForEvent("download", { timeout: 120_000 }),
    page.getByRole("button", { name: "Make the kit" }).click(),
  ]);
  const file = path.join(folder, "kit.html");
  await download.saveAs(file);
  const sha256 = await page.getByLabel("File fingerprint (SHA-256)").textContent();
  return { file, sha256: sha256 ?? "" };
}

export async function openKit(page: Page, picture: string | UploadedFile, passphrase: string | null): Promise<void> {
  await page.getByLabel("Picture", { exact: true }).setInputFiles(picture);
  if (passphrase !== null) await page.getByRole("textbox", { name: "Passphrase" }).fill(passphrase);
  await page.getByRole("button", { name: "Open", exact: true }).click();
}

export async function readKitText(page: Page, title: string): Promise<string> {
  const secret = page.getByRole("article").filter({ has: page.getByRole("heading", { name: title, exact: true }) });
  await expect(secret).toBeVisible({ timeout: 90_000 });
  await secret.getByRole("button", { name: "Show", exact: true }).click();
  return (await secret.locator("pre").textContent()) ?? "";
}
