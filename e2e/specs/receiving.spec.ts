import type { Browser, Page } from "@playwright/test";

import { newAccount, signUp } from "../pages/account.ts";
import { navigateInApp } from "../pages/navigation.ts";
import { answerDeviceQuestion, openList, protect, revealSecret, row } from "../pages/secrets.ts";
import { expectUnavailable, openShare, share, type ShareOptions } from "../pages/sharing.ts";
import { changeInput, choosePicture, pictureField } from "../pages/picture-field.ts";
import { disableTours } from "../support/onboarding.ts";
import { photographs } from "../support/photographs.ts";
import { expect, test } from "../support/portal-test.ts";
import { createSentinel } from "../support/sentinel.ts";

const title = `Door ${createSentinel()}`;
const secretText = `under the mat ${createSentinel()}`;
const password = `four words and ${createSentinel()}`;

/**
 * Opens a page in a separate browser context, as a private window: nothing is stored in it before
 * or after.
 */
async function newVisitor(browser: Browser, baseURL: string, device: "wide" | "phone" = "wide"): Promise<Page> {
  const phone = {
    viewport: { width: 390, height: 844 },
    colorScheme: "dark",
    locale: "es-ES",
    hasTouch: true,
  } as const;
  const context = await browser.newContext({ baseURL, locale: "en-GB", ...(device === "phone" ? phone : {}) });
  const page = await context.newPage();
  await disableTours(page);
  return page;
}

test("receiving: a link, a password, signing up on the way, and one person", async ({
  page,
  browser,
  portal,
  planted,
}) => {
  test.setTimeout(900_000);
  const owner = newAccount();
  let secretId = "";
  const createShareLink = async (options: Omit<ShareOptions, "opener">) =>
    planted.addLink(await share(page, secretId, { ...options, opener: photographs.small }));
  for (const text of [title, secretText, password]) planted.addText(text);

  await test.step("a user protects a secret", async () => {
    await signUp(page, owner);
    await protect(page, { text: secretText, title, tags: [], image: { file: photographs.small, passphrase: null } });
    await answerDeviceQuestion(page, "My own device");
    await openList(page);
    await row(page, title)
      .getByRole("button", { name: /More for/ })
      .click();
    await page.getByRole("menuitem", { name: "Edit" }).click();
    await expect(page).toHaveURL(/\/edit-secret\//);
    secretId = new URL(page.url()).pathname.split("/")[2] ?? "";
  });

  let link = "";
  await test.step("a public link is previewed without using a view, and its key leaves the address at once", async () => {
    link = await createShareLink({ audience: "public", views: "Once" });
    const visitor = await newVisitor(browser, portal.origin);
    await visitor.goto(link);
    await expect(visitor.getByText(owner.userName).first()).toBeVisible();
    await expect(visitor.getByText("1", { exact: true })).toBeVisible();
    expect(new URL(visitor.url()).hash).toBe("");
    await visitor.context().close();
  });

  await test.step("without JavaScript, or fetched by a program, a link says what it is, and uses no view", async () => {
    const context = await browser.newContext({ javaScriptEnabled: false });
    const pageWithoutScript = await context.newPage();
    const calls: string[] = [];
    pageWithoutScript.on("request", (request) => calls.push(new URL(request.url()).pathname));
    await pageWithoutScript.goto(link);
    await expect(pageWithoutScript.getByRole("heading", { name: "Encrypted secrets" })).toBeVisible();
    await expect(pageWithoutScript.getByRole("heading", { name: "Secretos cifrados" })).toBeVisible();
    expect(calls.filter((path) => path.startsWith("/api/"))).toEqual([]);
    const markup = await (
      await context.request.get(link.split("#")[0] ?? "", { headers: { accept: "*/*", "user-agent": "curl/8.5.0" } })
    ).text();
    expect(markup).toContain("loading it opened nothing and used nothing up");
    expect(markup).not.toContain(title);
    await context.close();
  });

  await test.step("a link opens by a button, in a private window, and only once", async () => {
    const visitor = await newVisitor(browser, portal.origin);
    await visitor.goto(link);
    await openShare(visitor);
    await expect(visitor.getByRole("heading", { level: 1, name: title })).toBeVisible({ timeout: 60_000 });
    expect(await revealSecret(visitor)).toBe(secretText);
    await visitor.reload();
    await expect(visitor.getByRole("heading", { name: "Open the link again" })).toBeVisible();
    await visitor.goto("about:blank");
    await visitor.goto(link);
    await expectUnavailable(visitor);
    await visitor.context().close();
  });

  await test.step("a wrong password of a link counts, on a phone, in Spanish and dark", async () => {
    const passwordLink = await createShareLink({ audience: "public", password });
    const visitor = await newVisitor(browser, portal.origin, "phone");
    await visitor.goto(passwordLink);
    await visitor.getByRole("textbox", { name: "Contraseña" }).fill(`${password} `);
    await visitor.getByRole("button", { name: "Abrir", exact: true }).click();
    await expect(visitor.getByText(/^Contraseña incorrecta\. Quedan 9 intentos/)).toBeVisible({ timeout: 60_000 });
    await visitor.getByRole("textbox", { name: "Contraseña" }).fill(password);
    await visitor.getByRole("button", { name: "Abrir", exact: true }).click();
    await expect(visitor.getByRole("heading", { level: 1, name: title })).toBeVisible({ timeout: 60_000 });
    await visitor.context().close();
  });

  const friend = newAccount();
  const friendPage = await newVisitor(browser, portal.origin);
  await test.step("a person without an account signs up on the way to a link for signed-in people, and keeps it", async () => {
    const signedInLink = await createShareLink({ audience: "signed_in" });
    await friendPage.goto(signedInLink);
    await expect(friendPage).toHaveURL(/\/secret-landing/);
    expect(friendPage.url()).not.toContain("#");
    await friendPage.getByRole("link", { name: "Sign in or create an account" }).click();
    await friendPage.getByRole("link", { name: "Create account" }).click();
    await friendPage.getByLabel("User name").fill(friend.userName);
    await friendPage.getByLabel("E-mail").fill(friend.email);
    await friendPage.getByLabel("Password").fill(friend.password);
    await friendPage.getByRole("button", { name: "Create account" }).click();
    await expect(friendPage.getByText(owner.userName).first()).toBeVisible({ timeout: 60_000 });
    await openShare(friendPage);
    await expect(friendPage.getByRole("heading", { level: 1, name: title })).toBeVisible({ timeout: 60_000 });
    await friendPage.getByRole("button", { name: "Protect as my secret" }).click();
    await expect(friendPage.getByText("You have no secrets here yet")).toBeVisible();
    await choosePicture(friendPage, photographs.mountains);
    await expect(pictureField(friendPage).getByText("This picture has enough detail")).toBeVisible({ timeout: 60_000 });
    await changeInput(friendPage, () =>
      pictureField(friendPage)
        .getByRole("checkbox", { name: /Continue without a passphrase/ })
        .check(),
    );
    await friendPage.getByRole("button", { name: "Protect with this picture" }).click();
    await expect(friendPage.getByText("Protected. It is now one of your secrets.")).toBeVisible({ timeout: 90_000 });
  });

  await test.step("one person finds the share under shared with me, sees who sent it, and opens it with their own picture", async () => {
    await createShareLink({ audience: { userName: friend.userName }, views: "5 times" });
    // without a reload, after which the page would be locked
    await friendPage.getByRole("navigation").getByRole("link", { name: "Shared with me" }).click();
    await expect(friendPage.getByText("2 secrets shared with you")).toBeVisible({ timeout: 60_000 });
    const card = friendPage.getByRole("article").filter({ hasText: "A secret shared with you on" });
    await expect(card).toContainText("Not opened yet");
    await card.getByRole("link", { name: "View" }).click();
    await openShare(friendPage);
    const openerFrame = friendPage.locator("iframe[data-vault-element]");
    const unknownSender = friendPage.getByText(`${owner.userName} is sharing with you directly for the first time`);
    await expect(openerFrame.or(unknownSender)).toBeVisible({ timeout: 60_000 });
    if (await openerFrame.isVisible()) {
      await choosePicture(friendPage, photographs.mountains);
      await openShare(friendPage);
    }
    await expect(unknownSender).toBeVisible({ timeout: 90_000 });
    await navigateInApp(page, "/people");
    const ownWords = page.getByRole("list", { name: `Safety words of ${owner.userName}` });
    await expect(ownWords).toHaveText(/\d$/); // the numbers come with the word lists
    const words = (await ownWords.textContent()) ?? "";
    await expect(friendPage.getByRole("list", { name: `Safety words of ${owner.userName}` })).toHaveText(words);
    await friendPage.getByRole("button", { name: "Accept and open" }).click();
    await expect(friendPage.getByRole("heading", { level: 1, name: title })).toBeVisible({ timeout: 90_000 });
    expect(await revealSecret(friendPage)).toBe(secretText);
  });
  await friendPage.context().close();
});
