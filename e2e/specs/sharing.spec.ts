import type { Browser, Page } from "@playwright/test";

import { newAccount, signUp } from "../pages/account.ts";
import { answerDeviceQuestion, openList, protect, revealSecret, row } from "../pages/secrets.ts";
import { choosePicture, pressButton } from "../pages/picture-field.ts";
import { disableTours } from "../support/onboarding.ts";
import { photographs } from "../support/photographs.ts";
import { expect, test } from "../support/portal-test.ts";
import { createSentinel } from "../support/sentinel.ts";

const image = { file: photographs.small, passphrase: null };
const title = `Diary ${createSentinel()}`;
const initialContent = `first words ${createSentinel()}`;
const laterContent = `later words ${createSentinel()}`;

/** Opens a browser without an account. */
async function newVisitor(browser: Browser, baseURL: string): Promise<Page> {
  const page = await (await browser.newContext({ baseURL, locale: "en-GB" })).newPage();
  await disableTours(page);
  return page;
}

/** Chooses an action of the row's menu. */
async function chooseAction(page: Page, action: string): Promise<void> {
  await openList(page);
  await row(page, title)
    .getByRole("button", { name: /^More for/ })
    .click();
  await page.getByRole("menuitem", { name: action }).click();
}

const readLink = async (page: Page) => (await page.getByLabel("Link", { exact: true }).textContent()) ?? "";

async function openShare(visitor: Page, link: string, password: string): Promise<string> {
  await visitor.goto(link);
  await visitor.getByRole("textbox", { name: "Password" }).fill(password);
  await visitor.getByRole("button", { name: "Open", exact: true }).click();
  await expect(visitor.getByRole("heading", { level: 1, name: title })).toBeVisible({ timeout: 60_000 });
  return revealSecret(visitor);
}

test("a secret is shared by a link with proposed words, updated after an edit, and ends with the trash", async ({
  page,
  browser,
  portal,
  planted,
}) => {
  for (const text of [title, initialContent, laterContent]) planted.addText(text);
  await signUp(page, newAccount());
  await protect(page, { text: initialContent, title, tags: [], image });
  await answerDeviceQuestion(page, "My own device");
  const visitor = await newVisitor(browser, portal.origin);
  let link = "";
  let password = "";

  await test.step("the dialog proposes four words, and shows them apart from the link", async () => {
    await chooseAction(page, "Share");
    await choosePicture(page, photographs.small);
    const proposal = page.getByLabel("Suggested password");
    await expect(proposal).toHaveText(/^\S+( \S+){3}$/);
    password = (await proposal.textContent()) ?? "";
    await expect(page.getByRole("radio", { name: "Once", exact: true })).toBeChecked();
    await page.getByRole("radio", { name: "5 times", exact: true }).check();
    await page.getByRole("button", { name: "Create link" }).click();
    await expect(page.getByRole("heading", { name: "Your link is ready" })).toBeVisible({ timeout: 90_000 });
    link = planted.addLink(await readLink(page));
    planted.addText(password);
    expect(await openShare(visitor, link, password)).toBe(initialContent);
  });

  await test.step("a reloaded page shows the same link again, once a picture is presented", async () => {
    await page.reload();
    await expect(page.getByText("Opened 1 of 5 times")).toBeVisible();
    await page.getByRole("button", { name: "Show link" }).click();
    const panel = page.getByRole("group", { name: "Choose one of your pictures to see the link." });
    await choosePicture(panel, photographs.small);
    await pressButton(panel, "Show link");
    await expect(page.getByLabel("Link", { exact: true })).toBeVisible({ timeout: 60_000 });
    expect(await readLink(page)).toBe(link);
  });

  await test.step("the row of the shared secret is marked, and an edit says that others keep seeing what was shared", async () => {
    await chooseAction(page, "Edit");
    await expect(page.getByText(/^You share this secret with one person or link\./)).toBeVisible();
    await page.getByRole("button", { name: "Replace" }).click();
    await page.getByRole("textbox", { name: "Your secret" }).fill(laterContent);
    await page.getByRole("button", { name: "Save changes" }).click();
    await expect(row(page, title).getByText("Shared", { exact: true })).toBeVisible({ timeout: 60_000 });
  });

  await test.step("the share shows the current version once it is updated", async () => {
    await chooseAction(page, "Share");
    await page.getByRole("button", { name: "Share the latest version" }).click();
    await expect(page.getByText("The latest version is now shared.").first()).toBeVisible({ timeout: 60_000 });
    await visitor.goto("about:blank");
    expect(await openShare(visitor, link, password)).toBe(laterContent);
  });

  await test.step("the trash asks first, and ends the share", async () => {
    await chooseAction(page, "Move to trash");
    const confirmation = page.getByRole("alertdialog");
    await expect(confirmation).toContainText("One person or link will lose access.");
    await confirmation.getByRole("button", { name: "Move to trash" }).click();
    await expect(page.getByText("Moved to the trash.").first()).toBeVisible({ timeout: 60_000 });
    await visitor.goto("about:blank");
    await visitor.goto(link);
    await expect(visitor.getByRole("textbox", { name: "Password" })).toBeHidden();
    await expect(visitor.getByRole("heading", { name: "This can't be opened" })).toBeVisible();
  });
});
