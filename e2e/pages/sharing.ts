import { expect, type Page } from "@playwright/test";

import type { UploadedFile } from "../support/photographs.ts";
import { recordLink, recordTyped } from "../support/telemetry.ts";
import { navigateInApp } from "./navigation.ts";
import { choosePicture, pressButton } from "./picture-field.ts";

export interface ShareOptions {
  readonly audience: "public" | "signed_in" | { readonly userName: string };
  readonly password?: string;
  readonly views?: "Once" | "5 times";
  /** A picture that opens the secret. */
  readonly opener: string | UploadedFile;
}

const audiences = {
  public: "Anyone with the link",
  signed_in: "Anyone with the link who signs in",
  person: "One person",
} as const;

/** Shares a secret on its page, as its owner; returns the link. */
export async function share(
  page: Page,
  secretId: string,
  { audience, password, views = "5 times", opener }: ShareOptions,
): Promise<string> {
  recordTyped(password);
  await navigateInApp(page, `/share/${secretId}`);
  const shareButton = page.getByRole("button", { name: "Share with someone" });
  const form = page.getByRole("region", { name: "Share with" });
  await expect(shareButton.or(form)).toBeVisible();
  if (await shareButton.isVisible()) await shareButton.click();
  await form
    .getByRole("radio", { name: audiences[typeof audience === "string" ? audience : "person"], exact: true })
    .check();
  if (typeof audience === "object") {
    await form.getByLabel("Their name in this portal").fill(audience.userName);
    await form.getByRole("button", { name: "Find" }).click();
    await expect(form.getByRole("list", { name: `Safety words of ${audience.userName}` })).toBeVisible();
  } else {
    await form
      .getByRole("radio", { name: password === undefined ? "No" : "Yes, my own password", exact: true })
      .check();
    if (password !== undefined) await form.getByRole("textbox", { name: "Your password" }).fill(password);
  }
  await form.getByRole("radio", { name: views, exact: true }).check();
  await choosePicture(form, opener);
  await pressButton(form, typeof audience === "object" ? "Share" : "Create link");
  const linkField = page.getByLabel("Link", { exact: true });
  await expect(linkField).toBeVisible({ timeout: 90_000 });
  const link = (await linkField.textContent()) ?? "";
  recordLink(link);
  return link;
}

/** Presses the button that opens a share. */
export async function openShare(page: Page): Promise<void> {
  await page.getByRole("button", { name: "Open", exact: true }).click();
}

/** Expects the page to say that the share cannot be opened, with all possible reasons. */
export async function expectUnavailable(page: Page): Promise<void> {
  await expect(page.getByRole("heading", { name: "This can't be opened" })).toBeVisible();
  await expect(page.getByText("it has expired;")).toBeVisible();
}
