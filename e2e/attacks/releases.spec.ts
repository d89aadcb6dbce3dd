/** What whoever fills a team's static server, or the place of the documents, may want: code that nobody signed. */
import { readdir, readFile } from "node:fs/promises";
import path from "node:path";

import type { Browser, BrowserContext, Page } from "@playwright/test";

import { newAccount, signIn, signUp, type Account } from "../pages/account.ts";
import { expect, test as base } from "../support/portal-test.ts";
import { releasesOf, strangersKey, type Document } from "../support/releases.ts";

const test = base.extend<object, { readonly account: Account }>({
  account: [
    async ({ portal, browser }, use) => {
      const account = newAccount();
      const context = await browser.newContext({ baseURL: portal.origin });
      await signUp(await context.newPage(), account);
      await context.close();
      await use(account);
    },
    { scope: "worker", timeout: 120_000 },
  ],
});

const navigation = (page: Page) => page.getByRole("navigation").first();
const area = (page: Page) => page.getByRole("main");
const profile = (page: Page) => page.getByRole("heading", { name: "Profile" }).first();

/** Nothing of it is in the browser's cache. */
async function freshPage(browser: Browser, origin: string, account: Account): Promise<{ readonly page: Page; readonly context: BrowserContext }> {
  const context = await browser.newContext({ baseURL: origin });
  const page = await context.newPage();
  await signIn(page, account);
  return { page, context };
}

async function restIsAlive(page: Page): Promise<void> {
  await navigation(page).getByRole("link", { name: "Shared with me" }).click();
  await expect(page.getByRole("heading", { level: 1, name: "Shared with me" })).toBeVisible();
  await navigation(page).getByRole("link", { name: "Secrets", exact: true }).click();
  await expect(page.getByRole("heading", { level: 1, name: "Secrets" })).toBeVisible();
  await expect(page.getByRole("button", { name: /^Log out/ }).first()).toBeEnabled();
}

/** The chunk of the profile, which is where "Settings" leads. */
async function lazyChunk(folder: string): Promise<string> {
  for (const file of await readdir(folder)) {
    if (/^[0-9]+\.js$/.test(file) && (await readFile(path.join(folder, file), "utf8")).includes("/user/validate-username")) return file;
  }
  throw new Error(`${folder} has no chunk of the profile`);
}

for (const [kind, find] of [
  ["the entry", () => "remoteEntry.js"],
  ["the exposed chunk", () => "remote.js"],
  ["a lazy chunk", lazyChunk],
  ["a text", () => "locales/en/settings.json"],
] as const) {
  test(`one byte more in ${kind} of a remote: its area says so, and the rest works`, async ({ browser, portal, account }) => {
    const releases = releasesOf(portal);
    const release = await releases.stable("settings");
    const file = await find(releases.folderOf(release));
    const restore = await releases.tamper(release, file);
    const { page, context } = await freshPage(browser, portal.origin, account);
    const served = await page.evaluate(async (address) => (await fetch(address, { cache: "no-store" })).text(), `/r/settings/${release}/${file}`);
    expect(served.endsWith(" ")).toBe(true); // the attack is one

    await navigation(page).getByRole("link", { name: "Settings" }).click();
    await expect(area(page).getByRole("alert")).toContainText("Settings: not available right now", { timeout: 60_000 });
    await restIsAlive(page);

    await context.close();
    await restore();
    const other = await freshPage(browser, portal.origin, account); // what a browser keeps of a release is immutable
    await navigation(other.page).getByRole("link", { name: "Settings" }).click();
    await expect(profile(other.page)).toBeVisible({ timeout: 60_000 });
    await other.context.close();
  });
}

test("one byte more in the vault's worker: no vault is started, and the rest works", async ({ browser, portal, account }) => {
  const releases = releasesOf(portal);
  const release = await releases.stable("recovery");
  const file = (await releases.filesBelow(release, "assets")).find((name) => /vault-worker\.[0-9a-f]+\.js$/.test(name)) ?? "";
  const restore = await releases.tamper(release, file);
  const { page, context } = await freshPage(browser, portal.origin, account);
  await navigation(page).getByRole("link", { name: "Secrets", exact: true }).click();
  await expect(area(page).getByText("The part that seals and opens secrets did not load").first()).toBeVisible({ timeout: 60_000 });
  await navigation(page).getByRole("link", { name: "Settings" }).click();
  await expect(profile(page)).toBeVisible();
  await context.close();
  await restore();
});

test("a document of another key, vendor or origin, an expired or an older one: an open page goes on, and a new one says why it does not start", async ({ browser, portal, account }) => {
  test.slow();
  const releases = releasesOf(portal);
  const now = await releases.document();
  const day = 24 * 3_600_000;
  const next = now.sequence + 1;
  const attacks: readonly (readonly [string, Partial<Document>, ReturnType<typeof strangersKey> | undefined, string])[] = [
    ["another key", { sequence: next }, strangersKey((await releases.portalKey()).kid), "is not signed as it should be"],
    ["another vendor", { sequence: next, vendor_id: "acme" }, undefined, "is not signed as it should be"],
    ["another origin", { sequence: next, origin: "https://evil.example" }, undefined, "is not signed as it should be"],
    ["longer than a week", { sequence: next, not_after: new Date(Date.now() + 30 * day).toISOString() }, undefined, "is not signed as it should be"],
    ["expired", { sequence: next, issued_at: new Date(Date.now() - 3 * day).toISOString(), not_after: new Date(Date.now() - day).toISOString() }, undefined, "is out of date"],
    ["older", { sequence: now.sequence - 1 }, undefined, "an older description of its parts"],
  ];
  const { page, context } = await freshPage(browser, portal.origin, account);
  for (const [name, change, key, words] of attacks) {
    await test.step(name, async () => {
      const restore = await releases.replaceDocument(change, key);
      await restIsAlive(page);
      await navigation(page).getByRole("link", { name: "Settings" }).click();
      await expect(profile(page)).toBeVisible();
      const another = await context.newPage();
      await another.goto("/home");
      await expect(another.getByRole("alert").first()).toContainText(words);
      await restore();
      await another.getByRole("button", { name: "Try again" }).click();
      await expect(another.getByRole("alert")).toHaveCount(0);
      await another.close();
    });
  }
  await context.close();
});

test("script that nobody signed is not started by code that runs in the page", async ({ browser, portal, account }) => {
  const { page, context } = await freshPage(browser, portal.origin, account);
  const release = await releasesOf(portal).stable("secrets");
  const attempts = await page.evaluate(async (signed) => {
    const outcome = async (attempt: () => unknown): Promise<string> => {
      try {
        await attempt();
        return "done";
      } catch (error) {
        return error instanceof Error ? error.name : "refused";
      }
    };
    const append = (edit: (script: HTMLScriptElement) => void) => () =>
      new Promise((resolve, reject) => {
        const script = document.createElement("script");
        script.onload = resolve;
        script.onerror = () => {
          reject(new DOMException("", "NotLoaded"));
        };
        edit(script);
        document.head.append(script);
      });
    return {
      signedWithoutHash: await outcome(append((script) => { script.src = signed; })),
      notSigned: await outcome(append((script) => { script.src = "/r/secrets/other.js"; })),
      inline: await outcome(() => { document.createElement("script").text = "1"; }),
      html: await outcome(() => { document.createElement("div").innerHTML = "<b>1</b>"; }),
      worker: await outcome(() => new Worker(signed)),
    };
  }, `${portal.origin}/r/secrets/${release}/remote.js`);
  expect(attempts).toEqual({ signedWithoutHash: "NotLoaded", notSigned: "TypeError", inline: "TypeError", html: "TypeError", worker: "TypeError" });
  await context.close();
});
