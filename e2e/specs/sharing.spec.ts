import type { Browser, Page } from "@playwright/test";

import { newAccount, signUp } from "../pages/account.ts";
import { answerDevice, protect, revealed, row } from "../pages/secrets.ts";
import { withoutTours } from "../support/onboarding.ts";
import { photographs } from "../support/photographs.ts";
import { expect, test } from "../support/portal-test.ts";

const image = { file: photographs.small, passphrase: null };

/** A browser of somebody who has no account. */
async function stranger(browser: Browser, baseURL: string): Promise<Page> {
  const page = await (await browser.newContext({ baseURL, locale: "en-GB" })).newPage();
  await withoutTours(page);
  return page;
}

/** Opens the menu of a row and chooses something. */
async function choose(page: Page, title: string, action: string): Promise<void> {
  await page.goto("/secrets");
  await row(page, title).getByRole("button", { name: /^More for/ }).click();
  await page.getByRole("menuitem", { name: action }).click();
}

const linkOn = async (page: Page) => (await page.getByLabel("The link", { exact: true }).textContent()) ?? "";

async function openWith(visitor: Page, link: string, password: string): Promise<string> {
  await visitor.goto(link);
  await visitor.getByRole("textbox", { name: "Password" }).fill(password);
  await visitor.getByRole("button", { name: "Open", exact: true }).click();
  await expect(visitor.getByRole("heading", { level: 1, name: "Diary" })).toBeVisible({ timeout: 60_000 });
  return revealed(visitor);
}

test("a secret is shared by a link with proposed words, updated after an edit, and ends with the trash", async ({ page, browser, portal }) => {
  test.setTimeout(400_000);
  await signUp(page, newAccount());
  await protect(page, { text: "first words", title: "Diary", tags: [], image });
  await answerDevice(page, "My own device");
  const visitor = await stranger(browser, portal.origin);
  let link = "";
  let password = "";

  await test.step("the dialog proposes four words, and hands them on apart from the link", async () => {
    await choose(page, "Diary", "Share");
    await page.getByRole("group", { name: "Your picture" }).getByLabel("Picture file").setInputFiles(photographs.small);
    password = (await page.getByLabel("Proposed password").textContent()) ?? "";
    expect(password.split(" ")).toHaveLength(4);
    await page.getByRole("button", { name: "Make the link" }).click();
    await expect(page.getByRole("heading", { name: "The link is ready" })).toBeVisible({ timeout: 90_000 });
    link = await linkOn(page);
    expect(await openWith(visitor, link, password)).toBe("first words");
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
    await choose(page, "Diary", "Edit");
    await expect(page.getByText(/^One person or link can open this secret\./)).toBeVisible();
    await page.getByRole("button", { name: "Replace" }).click();
    await page.getByRole("textbox", { name: "Your secret" }).fill("later words");
    await page.getByRole("button", { name: "Save changes" }).click();
    await expect(row(page, "Diary").getByText("Shared", { exact: true })).toBeVisible({ timeout: 60_000 });
  });

  await test.step("the share shows the present version once it was updated", async () => {
    await choose(page, "Diary", "Share");
    await page.getByRole("button", { name: "Update what I shared" }).click();
    const panel = page.getByRole("group", { name: /^Show a picture that opens this secret\./ });
    await panel.getByLabel("Picture file").setInputFiles(photographs.small);
    await panel.getByRole("button", { name: "Update what I shared" }).click();
    await expect(page.getByText("The share shows the present version.").first()).toBeVisible({ timeout: 60_000 });
    await visitor.goto("about:blank");
    expect(await openWith(visitor, link, password)).toBe("later words");
  });

  await test.step("the trash asks first, and ends it", async () => {
    await choose(page, "Diary", "Move to trash");
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

test("somebody without an account answers a request, and it is kept", async ({ page, browser, portal }) => {
  test.setTimeout(400_000);
  await signUp(page, newAccount());
  await protect(page, { text: "first words", title: "Diary", tags: [], image });
  await answerDevice(page, "My own device");
  const provider = await stranger(browser, portal.origin);
  let link = "";
  let receipt: readonly string[] = [];

  await test.step("a request becomes a link", async () => {
    await page.goto("/recived");
    await page.getByRole("link", { name: "Asked for" }).click();
    await page.getByRole("link", { name: "Ask for a secret" }).first().click();
    await page.getByRole("textbox", { name: "What do you need?" }).fill("The deed");
    await page.getByRole("button", { name: "Make the link" }).click();
    await page.getByLabel("Picture file").setInputFiles(photographs.small);
    await page.getByRole("button", { name: "Make the link" }).click();
    await expect(page.getByRole("heading", { name: "“The deed” can be asked for now" })).toBeVisible({ timeout: 60_000 });
    link = await linkOn(page);
  });

  await test.step("the provider sees what is asked, sends a text, and gets a receipt", async () => {
    await provider.goto(link);
    await expect(provider.getByRole("heading", { name: "The deed" })).toBeVisible({ timeout: 60_000 });
    expect(new URL(provider.url()).hash).toBe("");
    await expect(provider.getByRole("navigation", { name: "Main navigation" })).toBeHidden();
    await provider.getByRole("textbox", { name: "Your text" }).fill("number 7");
    await provider.getByRole("button", { name: "Seal and send" }).click();
    await expect(provider.getByRole("heading", { name: "It was sent" })).toBeVisible({ timeout: 60_000 });
    receipt = await provider.getByRole("list", { name: "Words of your receipt" }).getByRole("listitem").allTextContents();
    expect(receipt).toHaveLength(8);
  });

  await test.step("a second answer is refused", async () => {
    await provider.goto("about:blank");
    await provider.goto(link);
    await expect(provider.getByRole("heading", { name: "This request takes no answer" })).toBeVisible({ timeout: 60_000 });
  });

  await test.step("what came opens with a picture, shows the same words, and is kept", async () => {
    await page.getByRole("link", { name: "Go to what you asked for" }).click();
    await page.getByRole("button", { name: "Open what came" }).click();
    await expect(page.getByRole("button", { name: "Keep it among my secrets" })).toBeVisible({ timeout: 60_000 });
    expect(await page.getByRole("list", { name: "Words of the receipt" }).getByRole("listitem").allTextContents()).toEqual(receipt);
    expect(await revealed(page)).toBe("number 7");
    await page.getByRole("button", { name: "Keep it among my secrets" }).click();
    await expect(page.getByText(/^It is among your secrets now/)).toBeVisible({ timeout: 60_000 });
    await page.getByRole("button", { name: "I have it" }).click();
    await expect(page.getByText("Collected", { exact: true })).toBeVisible();
    await page.goto("/secrets");
    await expect(row(page, "The deed")).toBeVisible();
  });
});
