import type { Browser, Page } from "@playwright/test";

import { newAccount, signUp } from "../pages/account.ts";
import { answerDevice, openList, protect, revealed, row } from "../pages/secrets.ts";
import { withoutTours } from "../support/onboarding.ts";
import { photographs } from "../support/photographs.ts";
import { expect, test } from "../support/portal-test.ts";
import { sentinel } from "../support/sentinel.ts";

const image = { file: photographs.small, passphrase: null };
const title = `Diary ${sentinel()}`;
const firstWords = `first words ${sentinel()}`;
const laterWords = `later words ${sentinel()}`;

/** A browser of somebody who has no account. */
async function stranger(browser: Browser, baseURL: string): Promise<Page> {
  const page = await (await browser.newContext({ baseURL, locale: "en-GB" })).newPage();
  await withoutTours(page);
  return page;
}

/** Opens the menu of a row and chooses something. */
async function choose(page: Page, action: string): Promise<void> {
  await openList(page);
  await row(page, title)
    .getByRole("button", { name: /^More for/ })
    .click();
  await page.getByRole("menuitem", { name: action }).click();
}

const linkOn = async (page: Page) => (await page.getByLabel("The link", { exact: true }).textContent()) ?? "";

async function openWith(visitor: Page, link: string, password: string): Promise<string> {
  await visitor.goto(link);
  await visitor.getByRole("textbox", { name: "Password" }).fill(password);
  await visitor.getByRole("button", { name: "Open", exact: true }).click();
  await expect(visitor.getByRole("heading", { level: 1, name: title })).toBeVisible({ timeout: 60_000 });
  return revealed(visitor);
}

test("a secret is shared by a link with proposed words, updated after an edit, and ends with the trash", async ({
  page,
  browser,
  portal,
  planted,
}) => {
  test.setTimeout(400_000);
  for (const text of [title, firstWords, laterWords]) planted.text(text);
  await signUp(page, newAccount());
  await protect(page, { text: firstWords, title, tags: [], image });
  await answerDevice(page, "My own device");
  const visitor = await stranger(browser, portal.origin);
  let link = "";
  let password = "";

  await test.step("the dialog proposes four words, and hands them on apart from the link", async () => {
    await choose(page, "Share");
    await page.getByRole("group", { name: "Your picture" }).getByLabel("Picture file").setInputFiles(photographs.small);
    password = (await page.getByLabel("Proposed password").textContent()) ?? "";
    expect(password.split(" ")).toHaveLength(4);
    await page.getByRole("button", { name: "Make the link" }).click();
    await expect(page.getByRole("heading", { name: "The link is ready" })).toBeVisible({ timeout: 90_000 });
    link = planted.link(await linkOn(page));
    planted.text(password);
    expect(await openWith(visitor, link, password)).toBe(firstWords);
  });

  await test.step("a page loaded anew shows the same link again, once a picture was shown", async () => {
    await page.reload();
    await expect(page.getByText("Opened 1 of 5 times")).toBeVisible();
    await page.getByRole("button", { name: "Show the link" }).click();
    const panel = page.getByRole("group", { name: "Show one of your pictures to see the link." });
    await panel.getByLabel("Picture file").setInputFiles(photographs.small);
    await panel.getByRole("button", { name: "Show the link" }).click();
    await expect(page.getByLabel("The link", { exact: true })).toBeVisible({ timeout: 60_000 });
    expect(await linkOn(page)).toBe(link);
  });

  await test.step("its row is marked, and an edit says that others keep seeing what was shared", async () => {
    await choose(page, "Edit");
    await expect(page.getByText(/^One person or link can open this secret\./)).toBeVisible();
    await page.getByRole("button", { name: "Replace" }).click();
    await page.getByRole("textbox", { name: "Your secret" }).fill(laterWords);
    await page.getByRole("button", { name: "Save changes" }).click();
    await expect(row(page, title).getByText("Shared", { exact: true })).toBeVisible({ timeout: 60_000 });
  });

  await test.step("the share shows the present version once it was updated", async () => {
    await choose(page, "Share");
    await page.getByRole("button", { name: "Update what I shared" }).click();
    const panel = page.getByRole("group", { name: /^Show a picture that opens this secret\./ });
    await panel.getByLabel("Picture file").setInputFiles(photographs.small);
    await panel.getByRole("button", { name: "Update what I shared" }).click();
    await expect(page.getByText("The share shows the present version.").first()).toBeVisible({ timeout: 60_000 });
    await visitor.goto("about:blank");
    expect(await openWith(visitor, link, password)).toBe(laterWords);
  });

  await test.step("the trash asks first, and ends it", async () => {
    await choose(page, "Move to trash");
    const question = page.getByRole("alertdialog");
    await expect(question).toContainText("One person or link that can open it loses that at once.");
    await question.getByRole("button", { name: "Move to trash" }).click();
    await expect(page.getByText("Moved to the trash.").first()).toBeVisible({ timeout: 60_000 });
    await visitor.goto("about:blank");
    await visitor.goto(link);
    await expect(visitor.getByRole("textbox", { name: "Password" })).toBeHidden();
    await expect(visitor.getByRole("heading", { name: "This can't be opened" })).toBeVisible();
  });
});
