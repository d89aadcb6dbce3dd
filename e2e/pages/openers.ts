import { expect, type Locator, type Page } from "@playwright/test";

import { photographs } from "../support/photographs.ts";
import { readItems } from "./list.ts";
import { navigateInApp } from "./navigation.ts";
import { changeInput, choosePicture, fillInField, pictureField, pressButton, vaultElement } from "./picture-field.ts";

type Scope = Page | Locator;

export async function openOpeners(page: Page): Promise<void> {
  await navigateInApp(page, "/openers");
  await expect(page.getByRole("region", { name: "Ways to open" })).toBeVisible();
}

/** Confirms with the small photograph, which opens the account. */
export async function submitPicture(page: Page, button: string): Promise<void> {
  await choosePicture(page, photographs.small);
  await pressButton(page, button);
}

export async function makePasskey(page: Page): Promise<void> {
  await page.goto("/openers"); // after a reload, no opener is presented
  await page.getByRole("button", { name: "Make a passkey" }).click();
  await vaultElement(page, "new_passkey").getByRole("button", { name: "Make the passkey" }).click();
  await page.getByRole("button", { name: "Add the passkey" }).click();
  await expect(
    page.getByText("To finish, confirm with a picture, passkey or recovery code that you already use."),
  ).toBeVisible();
  await submitPicture(page, "Add the passkey");
  await expect(page.getByText(/^Passkey, added/)).toBeVisible({ timeout: 90_000 });
}

/** Makes a recovery code, types two of its words back, and returns it. */
export async function makeCode(page: Page): Promise<string> {
  await openOpeners(page);
  await page.getByRole("button", { name: "Make a recovery code" }).click();
  const element = vaultElement(page, "new_recovery_code");
  const codeWords = await readItems(element.getByRole("list", { name: "The 24 words" }), 24);
  await element.getByRole("button", { name: "I have them on paper" }).click();
  const wordFields = element.getByRole("textbox", { name: /^Word \d+$/ });
  await expect(wordFields).toHaveCount(2);
  for (const field of await wordFields.all()) {
    const label = await field.evaluate((input: HTMLInputElement) => input.labels?.[0]?.textContent ?? "");
    await field.fill(codeWords[Number(/\d+/.exec(label)?.[0]) - 1] ?? "");
  }
  await element.getByRole("button", { name: "Continue" }).click();
  await page.getByRole("button", { name: "Add the code" }).click();
  const openerPrompt = page.getByText(
    "To finish, confirm with a picture, passkey or recovery code that you already use.",
  );
  const addedNotice = page.getByText(/^Recovery code, added/);
  await expect(openerPrompt.or(addedNotice)).toBeVisible({ timeout: 30_000 });
  if (await openerPrompt.isVisible()) await submitPicture(page, "Add the code");
  await expect(addedNotice).toBeVisible({ timeout: 90_000 });
  return codeWords.join(" ");
}

export async function presentPasskey(scope: Scope): Promise<void> {
  await pictureField(scope).getByRole("button", { name: "Use a passkey" }).click();
  await changeInput(scope, () => pictureField(scope).getByRole("button", { name: "Use the passkey" }).click());
  await expect(pictureField(scope).getByText("The passkey is ready.")).toBeVisible();
}

export async function presentCode(scope: Scope, code: string): Promise<void> {
  await pictureField(scope).getByRole("button", { name: "Use a recovery code" }).click();
  await fillInField(scope, "Recovery code", code);
}

export async function showPasskey(page: Page): Promise<void> {
  await presentPasskey(page);
  await pressButton(page, /^(Open|Unlock)$/);
}

export async function showCode(page: Page, code: string): Promise<void> {
  await presentCode(page, code);
  await pressButton(page, /^(Open|Unlock)$/);
}
