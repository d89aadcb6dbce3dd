import { randomBytes } from "node:crypto";

import { expect, type Locator, type Page } from "@playwright/test";

import { disableTours } from "../support/onboarding.ts";
import { sendProviderForm } from "../support/provider-form.ts";

export interface Account {
  readonly userName: string;
  readonly email: string;
  readonly password: string;
}

export function newAccount(): Account {
  const suffix = randomBytes(4).toString("hex");
  return { userName: `ana-${suffix}`, email: `ana-${suffix}@example.org`, password: `correct horse ${suffix}` };
}

export interface Visit {
  /**
   * Whether tours run as they do for everybody who comes for the first time; specs about something
   * else go without.
   */
  readonly tours?: boolean;
  /**
   * Where the portal is opened: at Home, which is then there, or at another path, whose screen is
   * the caller's to look at.
   */
  readonly path?: string;
}

/** Makes an account, and opens the portal with it. */
export async function signUp(page: Page, account: Account, visit?: Visit): Promise<void> {
  await sendProviderForm(page.request, "sign-up", {
    username: account.userName,
    email: account.email,
    password: account.password,
  });
  await openPortal(page, visit);
}

/** Opens the portal with an account that is there. */
export async function signIn(
  page: Page,
  account: Pick<Account, "userName" | "password">,
  visit?: Visit,
): Promise<void> {
  await sendProviderForm(page.request, "sign-in", { name: account.userName, password: account.password });
  await openPortal(page, visit);
}

async function openPortal(page: Page, { tours = false, path }: Visit = {}): Promise<void> {
  if (!tours) await disableTours(page);
  await page.goto(path ?? "/");
  if (path === undefined) await expectHome(page);
}

/**
 * Opens the portal, and signs up as a person does at the identity provider's form. What the page
 * shows then is the caller's to look at.
 */
export async function signUpByHand(
  page: Page,
  account: Account,
  { tours = false }: Pick<Visit, "tours"> = {},
): Promise<void> {
  if (!tours) await disableTours(page);
  await page.goto("/");
  await page.getByRole("link", { name: "Create an account" }).click();
  await page.getByLabel("User name").fill(account.userName);
  await page.getByLabel("E-mail").fill(account.email);
  await page.getByLabel("Password").fill(account.password);
  await page.getByRole("button", { name: "Create account" }).click();
}

/** Opens the portal, and signs in as a person does. */
export async function signInByHand(page: Page, account: Pick<Account, "userName" | "password">): Promise<void> {
  await disableTours(page);
  await page.goto("/");
  await page.getByLabel("User name or e-mail").fill(account.userName);
  await page.getByLabel("Password").fill(account.password);
  await page.getByRole("button", { name: "Sign in" }).click();
  await expectHome(page);
}

/** Asks to log out; gives the button that says yes. */
export async function requestLogOut(page: Page): Promise<Locator> {
  await page
    .getByRole("button", { name: /^Log out/ })
    .first()
    .click();
  const confirmButton = page
    .getByRole("alertdialog")
    .or(page.getByRole("dialog"))
    .getByRole("button", { name: "Log out" });
  await expect(confirmButton).toBeVisible();
  return confirmButton;
}

/** Logs out; where the page leads is the caller's to look at. */
export async function logOut(page: Page): Promise<void> {
  await (await requestLogOut(page)).click();
}

export async function signOut(page: Page): Promise<void> {
  await logOut(page);
  await expect(page.getByLabel("User name or e-mail")).toBeVisible();
}

/** Home is there. */
export async function expectHome(page: Page): Promise<void> {
  await expect(page.getByRole("heading", { level: 1, name: /hello/i })).toBeVisible();
}
