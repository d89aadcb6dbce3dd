import { randomBytes } from "node:crypto";

import { expect, type Locator, type Page } from "@playwright/test";

import { withoutTours } from "../support/onboarding.ts";

export interface Account {
  readonly userName: string;
  readonly email: string;
  readonly password: string;
}

export function newAccount(): Account {
  const tail = randomBytes(4).toString("hex");
  return { userName: `ana-${tail}`, email: `ana-${tail}@example.org`, password: `correct horse ${tail}` };
}

export interface FirstVisit {
  /** Whether tours run as they do for everybody who comes for the first time; specs about something else go without. */
  readonly tours?: boolean;
}

/** Opens the portal; an unauthenticated visitor lands at the identity provider. */
export async function signUp(page: Page, account: Account, visit: FirstVisit = {}): Promise<void> {
  await createAccount(page, account, visit);
  await atHome(page);
}

/** Signs up; what the page shows then is the caller's to look at. */
export async function createAccount(page: Page, account: Account, { tours = false }: FirstVisit = {}): Promise<void> {
  if (!tours) await withoutTours(page);
  await page.goto("/");
  await page.getByRole("link", { name: "Create an account" }).click();
  await page.getByLabel("User name").fill(account.userName);
  await page.getByLabel("E-mail").fill(account.email);
  await page.getByLabel("Password").fill(account.password);
  await page.getByRole("button", { name: "Create account" }).click();
}

export async function signIn(page: Page, account: Pick<Account, "userName" | "password">, { tours = false }: FirstVisit = {}): Promise<void> {
  if (!tours) await withoutTours(page);
  await page.goto("/");
  await page.getByLabel("User name or e-mail").fill(account.userName);
  await page.getByLabel("Password").fill(account.password);
  await page.getByRole("button", { name: "Sign in" }).click();
  await atHome(page);
}

/** Asks to log out; gives the button that says yes. */
export async function askedToLogOut(page: Page): Promise<Locator> {
  await page.getByRole("button", { name: /^Log out/ }).first().click();
  const yes = page.getByRole("alertdialog").or(page.getByRole("dialog")).getByRole("button", { name: "Log out" });
  await expect(yes).toBeVisible();
  return yes;
}

/** Logs out; where the page leads is the caller's to look at. */
export async function logOut(page: Page): Promise<void> {
  await (await askedToLogOut(page)).click();
}

export async function signOut(page: Page): Promise<void> {
  await logOut(page);
  await expect(page.getByLabel("User name or e-mail")).toBeVisible();
}

async function atHome(page: Page): Promise<void> {
  await expect(page.getByRole("heading", { level: 1, name: /hello/i })).toBeVisible();
}
