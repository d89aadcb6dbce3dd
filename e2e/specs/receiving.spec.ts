import type { Browser, Page } from "@playwright/test";

import { newAccount, signUp } from "../pages/account.ts";
import { goWithin } from "../pages/places.ts";
import { answerDevice, openList, protect, revealed, row } from "../pages/secrets.ts";
import { expectUnavailable, openLink, share, type ShareWish } from "../pages/sharing.ts";
import { withoutTours } from "../support/onboarding.ts";
import { photographs } from "../support/photographs.ts";
import { expect, test } from "../support/portal-test.ts";
import { sentinel } from "../support/sentinel.ts";

const title = `Door ${sentinel()}`;
const phrase = `under the mat ${sentinel()}`;
const password = `four words and ${sentinel()}`;

/** A browser of its own, as a private window: nothing is kept in it before or after. */
async function stranger(browser: Browser, baseURL: string, look: "wide" | "phone" = "wide"): Promise<Page> {
  const phone = {
    viewport: { width: 390, height: 844 },
    colorScheme: "dark",
    locale: "es-ES",
    hasTouch: true,
  } as const;
  const context = await browser.newContext({ baseURL, locale: "en-GB", ...(look === "phone" ? phone : {}) });
  const page = await context.newPage();
  await withoutTours(page);
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
  const shared = async (wish: Omit<ShareWish, "opener">) =>
    planted.link(await share(page, secretId, { ...wish, opener: photographs.small }));
  for (const text of [title, phrase, password]) planted.text(text);

  await test.step("somebody protects a secret", async () => {
    await signUp(page, owner);
    await protect(page, { text: phrase, title, tags: [], image: { file: photographs.small, passphrase: null } });
    await answerDevice(page, "My own device");
    await openList(page);
    await row(page, title)
      .getByRole("button", { name: /More for/ })
      .click();
    await page.getByRole("menuitem", { name: "Edit" }).click();
    await expect(page).toHaveURL(/\/edit-secret\//);
    secretId = new URL(page.url()).pathname.split("/")[2] ?? "";
  });

  let link = "";
  await test.step("a public link is looked at without cost, and its key leaves the address at once", async () => {
    link = await shared({ audience: "public", views: "Once" });
    const visitor = await stranger(browser, portal.origin);
    await visitor.goto(link);
    await expect(visitor.getByText(owner.userName).first()).toBeVisible();
    await expect(visitor.getByText("One", { exact: true })).toBeVisible();
    expect(new URL(visitor.url()).hash).toBe("");
    await visitor.context().close();
  });

  await test.step("without JavaScript, and to a program that fetches it, it says what it is, and costs nothing", async () => {
    const context = await browser.newContext({ javaScriptEnabled: false });
    const bare = await context.newPage();
    const calls: string[] = [];
    bare.on("request", (request) => calls.push(new URL(request.url()).pathname));
    await bare.goto(link);
    await expect(bare.getByRole("heading", { name: "Sealed secrets" })).toBeVisible();
    await expect(bare.getByRole("heading", { name: "Secretos sellados" })).toBeVisible();
    expect(calls.filter((path) => path.startsWith("/api/"))).toEqual([]);
    const fetched = await (
      await context.request.get(link.split("#")[0] ?? "", { headers: { accept: "*/*", "user-agent": "curl/8.5.0" } })
    ).text();
    expect(fetched).toContain("loading it opened nothing and counted nothing");
    expect(fetched).not.toContain(title);
    await context.close();
  });

  await test.step("it opens on a button, in a private window, and then no second time", async () => {
    const visitor = await stranger(browser, portal.origin);
    await visitor.goto(link);
    await openLink(visitor);
    await expect(visitor.getByRole("heading", { level: 1, name: title })).toBeVisible({ timeout: 60_000 });
    expect(await revealed(visitor)).toBe(phrase);
    await visitor.reload();
    await expect(visitor.getByRole("heading", { name: "Open the link again" })).toBeVisible();
    await visitor.goto("about:blank");
    await visitor.goto(link);
    await expectUnavailable(visitor);
    await visitor.context().close();
  });

  await test.step("a password enters the key: a wrong one counts, on a phone, in Spanish and dark", async () => {
    const withPassword = await shared({ audience: "public", password });
    const visitor = await stranger(browser, portal.origin, "phone");
    await visitor.goto(withPassword);
    await visitor.getByRole("textbox", { name: "Contraseña" }).fill(`${password} `);
    await visitor.getByRole("button", { name: "Abrir", exact: true }).click();
    await expect(visitor.getByText(/^Esa no es la contraseña. Quedan 9 intentos/)).toBeVisible({ timeout: 60_000 });
    await visitor.getByRole("textbox", { name: "Contraseña" }).fill(password);
    await visitor.getByRole("button", { name: "Abrir", exact: true }).click();
    await expect(visitor.getByRole("heading", { level: 1, name: title })).toBeVisible({ timeout: 60_000 });
    await visitor.context().close();
  });

  const friend = newAccount();
  const mailbox = await stranger(browser, portal.origin);
  await test.step("a person without an account signs up on the way to a link for signed-in people, and keeps it", async () => {
    const forSignedIn = await shared({ audience: "signed_in" });
    await mailbox.goto(forSignedIn);
    await expect(mailbox).toHaveURL(/\/secret-landing/);
    expect(mailbox.url()).not.toContain("#");
    await mailbox.getByRole("link", { name: "Sign in or create an account" }).click();
    await mailbox.getByRole("link", { name: "Create an account" }).click();
    await mailbox.getByLabel("User name").fill(friend.userName);
    await mailbox.getByLabel("E-mail").fill(friend.email);
    await mailbox.getByLabel("Password").fill(friend.password);
    await mailbox.getByRole("button", { name: "Create account" }).click();
    await expect(mailbox.getByText(owner.userName).first()).toBeVisible({ timeout: 60_000 });
    await openLink(mailbox);
    await expect(mailbox.getByRole("heading", { level: 1, name: title })).toBeVisible({ timeout: 60_000 });
    await mailbox.getByRole("button", { name: "Keep it among my secrets" }).click();
    await expect(mailbox.getByText("You have protected nothing here yet")).toBeVisible();
    await mailbox.getByLabel("Picture file").setInputFiles(photographs.mountains);
    await expect(mailbox.getByText("This picture is good")).toBeVisible({ timeout: 60_000 });
    await mailbox.getByRole("checkbox", { name: /Go without a passphrase/ }).check();
    await mailbox.getByRole("button", { name: "Keep it with this picture" }).click();
    await expect(mailbox.getByText("Kept. It is among your secrets now.")).toBeVisible({ timeout: 90_000 });
  });

  await test.step("one person finds it under shared with me, sees who it is from, and opens it with their own picture", async () => {
    await shared({ audience: { userName: friend.userName }, views: "5 times" });
    // within the page: one that is loaded anew is locked
    await mailbox.getByRole("navigation").getByRole("link", { name: "Shared with me" }).click();
    await expect(mailbox.getByText("2 things shared with you")).toBeVisible({ timeout: 60_000 });
    const card = mailbox.getByRole("article").filter({ hasText: "sealed to you" });
    await expect(card).toContainText("Not opened yet");
    await card.getByRole("link", { name: "Look and open" }).click();
    await openLink(mailbox);
    const picture = mailbox.getByLabel("Picture file");
    const unknown = mailbox.getByText(`You don't know ${owner.userName} yet`);
    await expect(picture.or(unknown)).toBeVisible({ timeout: 60_000 });
    if (await picture.isVisible()) {
      await picture.setInputFiles(photographs.mountains);
      await openLink(mailbox);
    }
    await expect(unknown).toBeVisible({ timeout: 90_000 });
    await goWithin(page, "/people");
    const words = (await page.getByRole("list", { name: `Words of ${owner.userName}` }).textContent()) ?? "";
    await expect(mailbox.getByRole("list", { name: `Words of ${owner.userName}` })).toHaveText(words);
    await mailbox.getByRole("button", { name: "Accept and open" }).click();
    await expect(mailbox.getByRole("heading", { level: 1, name: title })).toBeVisible({ timeout: 90_000 });
    expect(await revealed(mailbox)).toBe(phrase);
  });
  await mailbox.context().close();
});
