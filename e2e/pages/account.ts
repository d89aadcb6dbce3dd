import { randomBytes } from "node:crypto";

import { expect, type Locator, type Page } from "@playwright/test";

import { disableTours } from "../support/onboarding.ts";
import { sendProviderForm } from "../support/provider-form.ts";
import { recordTyped } from "../support/telemetry.ts";

export interface Account {
  readonly userName: string;
  readonly email: string;
  readonly password: string;
}

export function newAccount(): Account {
  const suffix = randomBytes(4).toString("hex");
  return { userName: `ana-${suffix}`, email: `ana-${suffix}@example.org`, password: `correct horse ${suffix}` };
}

export interface VisitOptions {
  /** Whether tours run, as for new users. Default: false. */
  readonly tours?: boolean;
  /** Path to open; the caller waits for its screen. Default: Home, which is waited for. */
  readonly path?: string;
}

export async function signUp(page: Page, account: Account, visit?: VisitOptions): Promise<void> {
  recordTyped(account.email, account.password);
  await sendProviderForm(page.request, "sign-up", {
    username: account.userName,
    email: account.email,
    password: account.password,
  });
  await openPortal(page, visit);
}

export async function signIn(
  page: Page,
  account: Pick<Account, "userName" | "password">,
  visit?: VisitOptions,
): Promise<void> {
  await sendProviderForm(page.request, "sign-in", { name: account.userName, password: account.password });
  await openPortal(page, visit);
}

async function openPortal(page: Page, { tours = false, path }: VisitOptions = {}): Promise<void> {
  if (!tours) await disableTours(page);
  await page.goto(path ?? "/");
  if (path === undefined) await expectHome(page);
}

/** Signs up by the identity provider's form. The caller waits for the page that follows. */
export async function signUpByHand(
  page: Page,
  account: Account,
  { tours = false }: Pick<VisitOptions, "tours"> = {},
): Promise<void> {
  if (!tours) await disableTours(page);
  await page.goto("/");
  await page.getByRole("link", { name: "Create account" }).click();
  await page.getByLabel("User name").fill(account.userName);
  recordTyped(account.email, account.password);
  await page.getByLabel("E-mail").fill(account.email);
  await page.getByLabel("Password").fill(account.password);
  await page.getByRole("button", { name: "Create account" }).click();
}

/** Signs in by the identity provider's form. */
export async function signInByHand(page: Page, account: Pick<Account, "userName" | "password">): Promise<void> {
  await disableTours(page);
  await page.goto("/");
  await page.getByLabel("User name or e-mail").fill(account.userName);
  await page.getByLabel("Password").fill(account.password);
  await page.getByRole("button", { name: "Sign in" }).click();
  await expectHome(page);
}

/** Asks to log out; returns the confirming button. */
export async function requestLogOut(page: Page): Promise<Locator> {
  await page
    .getByRole("button", { name: /^Sign out/ })
    .first()
    .click();
  const confirmButton = page
    .getByRole("alertdialog")
    .or(page.getByRole("dialog"))
    .getByRole("button", { name: "Sign out" });
  await expect(confirmButton).toBeVisible();
  return confirmButton;
}

/** Logs out. The caller waits for the page that follows. */
export async function logOut(page: Page): Promise<void> {
  await (await requestLogOut(page)).click();
}

export async function signOut(page: Page): Promise<void> {
  await logOut(page);
  await expect(page.getByLabel("User name or e-mail")).toBeVisible();
}

export async function expectHome(page: Page): Promise<void> {
  await expect(page.getByRole("heading", { level: 1, name: /hello/i })).toBeVisible();
}
