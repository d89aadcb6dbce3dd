import { expect, type Page } from "@playwright/test";

import type { UploadedFile } from "../support/photographs.ts";
import { navigateInApp } from "./navigation.ts";

export interface ShareOptions {
  readonly audience: "public" | "signed_in" | { readonly userName: string };
  readonly password?: string;
  readonly views?: "Once" | "5 times";
  /** A picture that opens the secret. */
  readonly opener: string | UploadedFile;
}

const audiences = {
  public: "Anyone who has the link",
  signed_in: "Anyone who has the link and signs in",
  person: "One person",
} as const;

/** Shares one secret, as its owner, by its page. Gives the whole address of the link. */
export async function share(
  page: Page,
  secretId: string,
  { audience, password, views, opener }: ShareOptions,
): Promise<string> {
  await navigateInApp(page, `/share/${secretId}`);
  const shareButton = page.getByRole("button", { name: "Share it with someone" });
  const form = page.getByRole("region", { name: "Share it with" });
  await expect(shareButton.or(form)).toBeVisible();
  if (await shareButton.isVisible()) await shareButton.click();
  await form
    .getByRole("radio", { name: audiences[typeof audience === "string" ? audience : "person"], exact: true })
    .check();
  if (typeof audience === "object") {
    await form.getByLabel("Their user name").fill(audience.userName);
    await form.getByRole("button", { name: "Find" }).click();
    await expect(form.getByRole("list", { name: `Words of ${audience.userName}` })).toBeVisible();
  } else {
    await form.getByRole("radio", { name: password === undefined ? "No" : "Yes, one of my own", exact: true }).check();
    if (password !== undefined) await form.getByRole("textbox", { name: "Your password" }).fill(password);
  }
  if (views !== undefined) await form.getByRole("radio", { name: views, exact: true }).check();
  await form.getByRole("group", { name: "Your picture" }).getByLabel("Picture file").setInputFiles(opener);
  await form
    .getByRole("button", { name: typeof audience === "object" ? "Share" : "Make the link", exact: true })
    .click();
  const address = page.getByLabel("The link", { exact: true });
  await expect(address).toBeVisible({ timeout: 90_000 });
  return (await address.textContent()) ?? "";
}

/** The button that opens what a link leads to. */
export async function openShare(page: Page): Promise<void> {
  await page.getByRole("button", { name: "Open", exact: true }).click();
}

/** Whether the page says that the share cannot be opened, with the possible reasons together. */
export async function expectUnavailable(page: Page): Promise<void> {
  await expect(page.getByRole("heading", { name: "This can't be opened" })).toBeVisible();
  await expect(page.getByText("its time is over,")).toBeVisible();
}
