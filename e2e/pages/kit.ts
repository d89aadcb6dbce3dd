import path from "node:path";

import { expect, type Page } from "@playwright/test";

import type { UploadedFile } from "../support/photographs.ts";
import { navigateInApp } from "./navigation.ts";

export interface SavedKit {
  /** Path of the saved file. */
  readonly file: string;
  /** As the portal shows it. */
  readonly sha256: string;
}

/**
 * Makes a kit of everything on Safeguard, with these words on it, and saves it into a folder as
 * `kit.html`.
 */
export async function makeKit(
  page: Page,
  folder: string,
  picture: string,
  passphrase: string | null,
  note = "",
): Promise<SavedKit> {
  await navigateInApp(page, "/safeguard");
  await page.getByLabel("Picture file").setInputFiles(picture);
  if (passphrase !== null)
    await page.getByRole("textbox", { name: "Passphrase, if the picture has one" }).fill(passphrase);
  await page.getByLabel("Words on the kit").fill(note);
  const [download] = await Promise.all([
    page.waitForEvent("download", { timeout: 120_000 }),
    page.getByRole("button", { name: "Make the kit" }).click(),
  ]);
  const file = path.join(folder, "kit.html");
  await download.saveAs(file);
  const sha256 = await page.getByLabel("SHA-256 of the file").textContent();
  return { file, sha256: sha256 ?? "" };
}

/** Shows a picture to the page of a kit. */
export async function openKit(page: Page, picture: string | UploadedFile, passphrase: string | null): Promise<void> {
  await page.getByLabel("Picture", { exact: true }).setInputFiles(picture);
  if (passphrase !== null) await page.getByRole("textbox", { name: "Passphrase" }).fill(passphrase);
  await page.getByRole("button", { name: "Open", exact: true }).click();
}

/** The text of an opened secret of a kit, revealed. */
export async function readKitText(page: Page, title: string): Promise<string> {
  const secret = page.getByRole("article").filter({ has: page.getByRole("heading", { name: title, exact: true }) });
  await expect(secret).toBeVisible({ timeout: 90_000 });
  await secret.getByRole("button", { name: "Show", exact: true }).click();
  return (await secret.locator("pre").textContent()) ?? "";
}
