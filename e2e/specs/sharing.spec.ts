import type { Browser, Page } from "@playwright/test";

import { newAccount, signUp } from "../pages/account.ts";
import { answerDeviceQuestion, openList, protect, revealSecret, row } from "../pages/secrets.ts";
import { disableTours } from "../support/onboarding.ts";
import { photographs } from "../support/photographs.ts";
import { expect, test } from "../support/portal-test.ts";
import { createSentinel } from "../support/sentinel.ts";

const image = { file: photographs.small, passphrase: null };
const title = `Diary ${createSentinel()}`;
const initialContent = `first words ${createSentinel()}`;
const laterContent = `later words ${createSentinel()}`;

/** A browser of somebody who has no account. */
async function newVisitor(browser: Browser, baseURL: string): Promise<Page> {
  const page = await (await browser.newContext({ baseURL, locale: "en-GB" })).newPage();
  await disableTours(page);
  return page;
}

/** Opens the menu of a row and chooses something. */
async function chooseAction(page: Page, action: string): Promise<void> {
  await openList(page);
  await row(page, title)
    .getByRole("button", { name: /^More for/ })
    .click();
  await page.getByRole("menuitem", { name: action }).click();
}

const readLink = async (page: Page) => (await page.getByLabel("The link", { exact: true }).textContent()) ?? "";

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
  test.setTimeout(400_000);
  for (const text of [title, initialContent, laterContent]) planted.addText(text);
  await signUp(page, newAccount());
  await protect(page, { text: initialContent, title, tags: [], image });
  await answerDeviceQuestion(page, "My own device");
  const visitor = await newVisitor(browser, portal.origin);
  let link = "";
  let password = "";

  await test.step("the dialog proposes four words, and hands them on apart from the link", async () => {
    await chooseAction(page, "Share");
    await page.getByRole("group", { name: "Your picture" }).getByLabel("Picture file").setInputFiles(photographs.small);
    password = (await page.getByLabel("Proposed password").textContent()) ?? "";
    expect(password.split(" ")).toHaveLength(4);
    await page.getByRole("button", { name: "Make the link" }).click();
    await expect(page.getByRole("heading", { name: "The link is ready" })).toBeVisible({ timeout: 90_000 });
    link = planted.addLink(await readLink(page));
    planted.addText(password);
    expect(await openShare(visitor, link, password)).toBe(initialContent);
  });

  await test.step("a page loaded anew shows the same link again, once a picture was shown", async () => {
    await page.reload();
    await expect(page.getByText("Opened 1 of 5 times")).toBeVisible();
    await page.getByRole("button", { name: "Show the link" }).click();
    const panel = page.getByRole("group", { name: "Show one of your pictures to see the link." });
    await panel.getByLabel("Picture file").setInputFiles(photographs.small);
    await panel.getByRole("button", { name: "Show the link" }).click();
    await expect(page.getByLabel("The link", { exact: true })).toBeVisible({ timeout: 60_000 });
    expect(await readLink(page)).toBe(link);
  });

  await test.step("its row is marked, and an edit says that others keep seeing what was shared", async () => {
    await chooseAction(page, "Edit");
    await expect(page.getByText(/^One person or link can open this secret\./)).toBeVisible();
    await page.getByRole("button", { name: "Replace" }).click();
    await page.getByRole("textbox", { name: "Your secret" }).fill(laterContent);
    await page.getByRole("button", { name: "Save changes" }).click();
    await expect(row(page, title).getByText("Shared", { exact: true })).toBeVisible({ timeout: 60_000 });
  });

  await test.step("the share shows the present version once it was updated", async () => {
    await chooseAction(page, "Share");
    await page.getByRole("button", { name: "Update what I shared" }).click();
    const panel = page.getByRole("group", { name: /^Show a picture that opens this secret\./ });
    await panel.getByLabel("Picture file").setInputFiles(photographs.small);
    await panel.getByRole("button", { name: "Update what I shared" }).click();
    await expect(page.getByText("The share shows the present version.").first()).toBeVisible({ timeout: 60_000 });
    await visitor.goto("about:blank");
    expect(await openShare(visitor, link, password)).toBe(laterContent);
  });

  await test.step("the trash asks first, and ends it", async () => {
    await chooseAction(page, "Move to trash");
    const confirmation = page.getByRole("alertdialog");
    await expect(confirmation).toContainText("One person or link that can open it loses that at once.");
    await confirmation.getByRole("button", { name: "Move to trash" }).click();
    await expect(page.getByText("Moved to the trash.").first()).toBeVisible({ timeout: 60_000 });
    await visitor.goto("about:blank");
    await visitor.goto(link);
    await expect(visitor.getByRole("textbox", { name: "Password" })).toBeHidden();
    await expect(visitor.getByRole("heading", { name: "This can't be opened" })).toBeVisible();
  });
});
