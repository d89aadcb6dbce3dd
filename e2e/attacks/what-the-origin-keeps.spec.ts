/**
 * Reads, through the browser's own interfaces, all that the portal's origin keeps on a device,
 * tries every key that stands there in every way, and looks in it for what only an opener may give.
 */
import { randomBytes } from "node:crypto";
import { readFile } from "node:fs/promises";

import type { Page } from "@playwright/test";

import { newAccount, signIn, signOut, signUp, type Account } from "../pages/account.ts";
import { answerDevice, protect, protectFile, revealed, row, showPicture } from "../pages/secrets.ts";
import { seedOf } from "../support/age.ts";
import { ByteSearch, type Needle } from "../support/byte-search.ts";
import { keptByTheOrigin, type Kept, type KeptByTheOrigin } from "../support/kept-by-the-origin.ts";
import { derived, keysOfAPerson } from "../support/keys-of-a-person.ts";
import { lumaRows, photographs } from "../support/photographs.ts";
import { expect, test } from "../support/portal-test.ts";
import { sentinel } from "../support/sentinel.ts";

/**
 * What the vault wraps, by the purposes that it names; {@link KeptByTheOrigin.unopened} tells when
 * one is missing here.
 */
const purposes = ["pending", "sketches", "newShares", "rows", "sealing", "publishing", "fragment", "handoff"];

interface Person {
  readonly account: Account;
  readonly passphrase: string;
  readonly text: { readonly title: string; readonly content: string };
  readonly file: { readonly title: string; readonly name: string; readonly content: Buffer };
  /** 32 bytes, in the fragment of a link that was opened. */
  readonly linkKey: Buffer;
}

function newPerson(): Person {
  const name = sentinel();
  return {
    account: newAccount(),
    passphrase: `four words and ${sentinel()}`,
    text: { title: `Wallet ${sentinel()}`, content: `legal winner ${sentinel()} thank year` },
    file: { title: name, name: `${name}.pdf`, content: randomBytes(700_000) },
    linkKey: randomBytes(32),
  };
}

const picture = photographs.small;

async function protectAll(page: Page, { account, passphrase, text, file }: Person): Promise<void> {
  await signUp(page, account);
  await protect(page, { text: text.content, title: text.title, tags: [], image: { file: picture, passphrase } });
  await answerDevice(page, "My own device");
  await protectFile(page, file);
}

/** A link with a key in its fragment. */
async function openLink(page: Page, { linkKey }: Person): Promise<void> {
  await page.goto(`/shared/${randomBytes(16).toString("base64url")}#s=${linkKey.toString("base64url")}`);
  await expect.poll(() => new URL(page.url()).hash).toBe("");
  await expect(page.getByRole("heading", { level: 1 })).toBeVisible(); // loaded anew, without the fragment
}

/**
 * Opens both secrets and saves the file, without a reload: a shared computer keeps its keys in
 * memory alone.
 */
async function openAll(page: Page, { passphrase, text, file }: Person): Promise<void> {
  await row(page, text.title).getByRole("link", { name: text.title }).click();
  await showPicture(page, picture, passphrase);
  expect(await revealed(page)).toBe(text.content);
  await toList(page);
  await row(page, file.title).getByRole("link", { name: file.title }).click();
  await showPicture(page, picture, passphrase);
  const button = page.getByRole("button", { name: /^Download/ });
  await expect(button).toBeVisible({ timeout: 90_000 });
  const [download] = await Promise.all([page.waitForEvent("download", { timeout: 90_000 }), button.click()]);
  expect(await readFile(await download.path())).toEqual(file.content);
}

async function toList(page: Page): Promise<void> {
  await page
    .getByRole("navigation", { name: "Main navigation" })
    .getByRole("link", { name: "Secrets", exact: true })
    .click();
}

/** What no script may get without an opener. */
async function secretsOf(
  page: Page,
  person: Person,
): Promise<{ needles: Needle[]; tried: Parameters<typeof keptByTheOrigin>[1]; ids: readonly string[] }> {
  const { imageSecret, imageRoot, openerSeed, accountKey, sketch, documents, secrets } = await keysOfAPerson(page, {
    file: picture,
    passphrase: person.passphrase,
  });
  const seeds = { accountKey, imageSecret, imageRoot, openerSeed, linkKey: person.linkKey };
  const ofAccountKey = ["identity", "sign", "inner", "label", "book", "shares", "requests", "state"].map(
    (label) => [`${label} key`, derived(accountKey, `relicario/v1/${label}`)] as const,
  );
  expect([accountKey.length, secrets.length, documents.length > 2]).toEqual([32, 2, true]);
  const needles: Needle[] = [
    ...[...Object.entries(seeds), ...ofAccountKey].map(([name, bytes]): Needle => ({ name, kind: "text", bytes })),
    ...secrets.flatMap(({ contentIdentity }, index): Needle[] => [
      { name: `identity of content ${String(index)}`, kind: "text", bytes: Buffer.from(contentIdentity) },
      { name: `seed of the identity of content ${String(index)}`, kind: "text", bytes: seedOf(contentIdentity) },
    ]),
    { name: "an age identity", kind: "text", bytes: Buffer.from("AGE-SECRET-KEY-") },
    ...typed({
      passphrase: person.passphrase,
      content: person.text.content,
      title: person.text.title,
      "file name": person.file.name,
    }),
    { name: "content of the file", kind: "runs", bytes: person.file.content },
    { name: "sketch of the picture", kind: "runs", bytes: sketch },
    { name: "file of the picture", kind: "runs", bytes: await readFile(picture) },
    { name: "luma of the picture", kind: "runs", bytes: await lumaRows(picture) },
  ];
  return { needles, tried: { purposes, documents }, ids: secrets.map(({ id }) => id) };
}

/** Texts by their random part. */
function typed(texts: Readonly<Record<string, string>>): Needle[] {
  return Object.entries(texts).map(([name, text]) => ({
    name,
    kind: "text",
    bytes: Buffer.from(/[A-Za-z0-9]{16}/.exec(text)?.[0] ?? text),
  }));
}

/** What of the needles stands where, by any member or by anything that a key gives. */
function found(search: ByteSearch, { kept, given }: Pick<KeptByTheOrigin, "kept" | "given">): string[] {
  return [
    ...new Set(
      [...kept, ...given]
        .flatMap(({ where, bytes }) => search.search(bytes, where))
        .map(({ needle, where }) => `${needle}: ${where}`),
    ),
  ];
}

const planted = (bytes: Buffer): { kept: Kept[]; given: Kept[] } => ({
  kept: [{ where: "planted", bytes }],
  given: [],
});

/** All that is found is told, not the first alone. */
const softly = expect.configure({ soft: true });

test.beforeEach(async ({ page }) => {
  await page.addInitScript(() => {
    Reflect.deleteProperty(globalThis, "showSaveFilePicker"); // nobody can answer the system's own dialog here
  });
});

test("wants the secrets of a locked own device, with script in the page: finds none of them", async ({ page }) => {
  test.setTimeout(480_000);
  const person = newPerson();
  await protectAll(page, person);
  await openLink(page, person);
  await page.goto("/secrets");
  await openAll(page, person);
  const { needles, tried } = await secretsOf(page, person);

  const search = new ByteSearch(needles);
  await test.step("the attack finds what is there to be found: the searcher can fail", async () => {
    for (const { name, bytes } of needles) {
      const middle = Math.floor(bytes.length / 2);
      const part = bytes.length > 4096 ? bytes.subarray(middle, middle + 2048) : bytes;
      expect(
        found(search, planted(Buffer.from(JSON.stringify({ kept: Buffer.from(part).toString("base64url") })))),
        name,
      ).toContain(`${name}: planted`);
    }
  });

  await toList(page);
  await page.getByRole("button", { name: "Lock", exact: true }).click();
  await expect(page.getByText("This device is locked").first()).toBeVisible();

  await softly
    .poll(async () => found(search, await keptByTheOrigin(page, tried)), "secrets that script in the page gets")
    .toEqual([]);
  const device = await keptByTheOrigin(page, tried);
  expect(device.kept.length).toBeGreaterThan(10);
  expect
    .soft(
      device.given.map(({ where }) => where),
      "the titles keys of an own device open the account's documents",
    )
    .toContainEqual(expect.stringMatching(/^a document .*relicario-book/));
  expect.soft(device.unopened, "sealed here, and not opened by the attack").toEqual([]);
  expect
    .soft(
      device.keys.filter(({ type, extractable }) => type !== "public" && extractable),
      "keys that can be taken along",
    )
    .toEqual([]);

  await test.step("nor does a page that is loaded later, before the vault has started", async () => {
    await page.goto("/healthz");
    expect.soft(found(search, await keptByTheOrigin(page, tried)), "secrets that are kept").toEqual([]);
  });
});

const departures = {
  "the list": null,
  "a screen that never asked for the vault": "/settings/profile",
} as const;

for (const [where, path] of Object.entries(departures)) {
  test(`wants to know who sat at a shared computer, after sign-out from ${where}: finds nothing of the person`, async ({
    page,
    browser,
    portal,
  }) => {
    test.setTimeout(480_000);
    const person = newPerson();
    const { account, passphrase } = person;
    const home = await browser.newContext({ baseURL: portal.origin });
    const { needles, tried, ids } = await test.step("somebody protects secrets at home", async () => {
      const own = await home.newPage();
      await protectAll(own, person);
      return secretsOf(own, person);
    });
    await home.close();

    await signIn(page, account);
    await openLink(page, person);
    await page.goto("/secrets");
    await page.getByRole("link", { name: "Unlock with your picture" }).click();
    await showPicture(page, picture, passphrase);
    await answerDevice(page, "A shared computer");
    await openAll(page, person);
    const who = await page.evaluate(() => {
      const user = Object.keys(sessionStorage).find((name) => name.startsWith("oidc.user:"));
      return {
        user: user === undefined ? "" : (sessionStorage.getItem(user) ?? ""),
        session: sessionStorage.getItem("sessionToken") ?? "",
      };
    });
    const subject = /"sub":"([^"]+)"/.exec(who.user)?.[1] ?? "";
    const userId =
      /"sub":"([^"]+)"/.exec(Buffer.from(who.session.split(".")[1] ?? "", "base64url").toString())?.[1] ?? "";
    expect([subject.length > 8, userId.length > 8]).toEqual([true, true]);
    const ofThePerson = [
      ...needles,
      ...ids.map((id): Needle => ({ name: "id of a secret", kind: "text", bytes: Buffer.from(id) })),
      ...Object.entries({
        subject,
        userId,
        "user name": account.userName,
        "e-mail": account.email,
        "session token": who.session,
      }).map(([name, value]): Needle => ({ name, kind: "text", bytes: Buffer.from(value) })),
    ];
    const search = new ByteSearch(ofThePerson);
    expect(
      found(search, await keptByTheOrigin(page, tried)),
      "while somebody is signed in there is something to be found",
    ).toContainEqual(expect.stringMatching(/^user name: session storage/));

    if (path !== null) await page.goto(path);
    await signOut(page);
    await page.goto("/healthz"); // the origin, without any script of ours
    const device = await keptByTheOrigin(page, tried);
    expect.soft(found(search, device), "what is left of the person").toEqual([]);
    expect.soft(device.keys, "keys that are left").toEqual([]);
    const places = [...new Set(device.kept.map(({ where }) => where.replace(/ \(its key\)| \(its name\)/, "")))];
    expect
      .soft(
        places.filter((where) => !preferences.some((allowed) => allowed.test(where))),
        "what is left, but for preferences, the deployment document and the sign-in that begins anew",
      )
      .toEqual([]);
  });
}

/** What may stay, as long as none of the needles stands in it. */
const preferences: readonly RegExp[] = [
  /^local storage\/(theme|language|onboarding|toursSeen|deployment|landingVisited)/,
  // of the tab, and of the sign-in that begins when the portal is left signed out
  /^session storage\/(authRetry|pathAhead|oidc\.[0-9a-f]{32}|scrollPositions|releaseDraw)$/,
  /^private files\/relicario-opened$/, // an empty folder
];
