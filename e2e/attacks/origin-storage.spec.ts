/**
 * Attacker: script in the portal's or the vault's origin. Reads all that both store on a device,
 * tries every stored key in every way, and searches the result for what only an opener may reveal.
 */
import { randomBytes } from "node:crypto";
import { readFile } from "node:fs/promises";

import type { Page } from "@playwright/test";

import { newAccount, signIn, signOut, signUp, type Account } from "../pages/account.ts";
import {
  answerDeviceQuestion,
  downloadFile,
  protect,
  protectFile,
  revealSecret,
  row,
  showPicture,
} from "../pages/secrets.ts";
import { decodeIdentity } from "../support/age.ts";
import { ByteSearch, type Needle } from "../support/byte-search.ts";
import { readOriginStorage, type StoredItem, type OriginStorage } from "../support/origin-storage.ts";
import { deriveKey, deriveUserKeys } from "../support/user-keys.ts";
import { lumaRows, photographs } from "../support/photographs.ts";
import { expect, test } from "../support/portal-test.ts";
import { createSentinel } from "../support/sentinel.ts";

/**
 * Purposes for which the vault wraps data; {@link OriginStorage.undecrypted} reveals a missing one.
 */
const purposes = ["pending", "sketches", "newShares", "rows", "sealing", "publishing", "fragment", "handoff"];

interface TestUser {
  readonly account: Account;
  readonly passphrase: string;
  readonly text: { readonly title: string; readonly content: string };
  readonly file: { readonly title: string; readonly name: string; readonly content: Buffer };
  /** 32 bytes, from the fragment of an opened link. */
  readonly linkKey: Buffer;
}

function newTestUser(): TestUser {
  const name = createSentinel();
  return {
    account: newAccount(),
    passphrase: `four words and ${createSentinel()}`,
    text: { title: `Wallet ${createSentinel()}`, content: `legal winner ${createSentinel()} thank year` },
    file: { title: name, name: `${name}.pdf`, content: randomBytes(700_000) },
    linkKey: randomBytes(32),
  };
}

const picturePath = photographs.small;

async function protectAll(page: Page, { account, passphrase, text, file }: TestUser): Promise<void> {
  await signUp(page, account);
  await protect(page, { text: text.content, title: text.title, tags: [], image: { file: picturePath, passphrase } });
  await answerDeviceQuestion(page, "My own device");
  await protectFile(page, file);
}

async function openLink(page: Page, { linkKey }: TestUser): Promise<void> {
  await page.goto(`/shared/${randomBytes(16).toString("base64url")}#s=${linkKey.toString("base64url")}`);
  await expect.poll(() => new URL(page.url()).hash).toBe("");
  await expect(page.getByRole("heading", { level: 1 })).toBeVisible(); // reloaded, without the fragment
}

/** Does not reload: a shared computer keeps its keys only in memory. */
async function openAll(page: Page, { passphrase, text, file }: TestUser): Promise<void> {
  await row(page, text.title).getByRole("link", { name: text.title }).click();
  await showPicture(page, picturePath, passphrase);
  expect(await revealSecret(page)).toBe(text.content);
  await goToList(page);
  await row(page, file.title).getByRole("link", { name: file.title }).click();
  await showPicture(page, picturePath, passphrase);
  expect((await downloadFile(page)).content).toEqual(file.content);
}

async function goToList(page: Page): Promise<void> {
  await page
    .getByRole("navigation", { name: "Main navigation" })
    .getByRole("link", { name: "Secrets", exact: true })
    .click();
}

/** Collects what no script may get without an opener. */
async function collectNeedles(
  page: Page,
  person: TestUser,
): Promise<{ needles: Needle[]; attackInputs: Parameters<typeof readOriginStorage>[2]; ids: readonly string[] }> {
  const { imageSecret, imageRootKey, openerSeed, accountKey, sketch, documents, secrets } = await deriveUserKeys(page, {
    file: picturePath,
    passphrase: person.passphrase,
  });
  const seeds = { accountKey, imageSecret, imageRootKey, openerSeed, linkKey: person.linkKey };
  const derivedKeys = ["identity", "sign", "inner", "label", "book", "shares", "requests", "state"].map(
    (label) => [`${label} key`, deriveKey(accountKey, `relicario/v1/${label}`)] as const,
  );
  expect([accountKey.length, secrets.length, documents.length > 2]).toEqual([32, 2, true]);
  const needles: Needle[] = [
    ...[...Object.entries(seeds), ...derivedKeys].map(([name, bytes]): Needle => ({ name, kind: "text", bytes })),
    ...secrets.flatMap(({ contentIdentity }, index): Needle[] => [
      { name: `identity of content ${String(index)}`, kind: "text", bytes: Buffer.from(contentIdentity) },
      {
        name: `seed of the identity of content ${String(index)}`,
        kind: "text",
        bytes: decodeIdentity(contentIdentity),
      },
    ]),
    { name: "an age identity", kind: "text", bytes: Buffer.from("AGE-SECRET-KEY-") },
    ...makeTextNeedles({
      passphrase: person.passphrase,
      content: person.text.content,
      title: person.text.title,
      "file name": person.file.name,
    }),
    { name: "content of the file", kind: "runs", bytes: person.file.content },
    { name: "sketch of the picture", kind: "runs", bytes: sketch },
    { name: "file of the picture", kind: "runs", bytes: await readFile(picturePath) },
    { name: "luma of the picture", kind: "runs", bytes: await lumaRows(picturePath) },
  ];
  return { needles, attackInputs: { purposes, documents }, ids: secrets.map(({ id }) => id) };
}

/** Searches texts by their random parts. */
function makeTextNeedles(texts: Readonly<Record<string, string>>): Needle[] {
  return Object.entries(texts).map(([name, text]) => ({
    name,
    kind: "text",
    bytes: Buffer.from(/[A-Za-z0-9]{16}/.exec(text)?.[0] ?? text),
  }));
}

/** Needles and their locations. */
function findLeaks(search: ByteSearch, { stored, derived }: Pick<OriginStorage, "stored" | "derived">): string[] {
  return [
    ...new Set(
      [...stored, ...derived]
        .flatMap(({ where, bytes }) => search.search(bytes, where))
        .map(({ needle, where }) => `${needle}: ${where}`),
    ),
  ];
}

const makePlantedItems = (bytes: Buffer): { stored: StoredItem[]; derived: StoredItem[] } => ({
  stored: [{ where: "planted", bytes }],
  derived: [],
});

/** Reports all findings, not only the first. */
const softExpect = expect.configure({ soft: true });

test("an attacker wants the secrets of a locked own device, with script in the page: finds none of them", async ({
  page,
  portal,
}) => {
  const person = newTestUser();
  await protectAll(page, person);
  await openLink(page, person);
  await page.goto("/secrets");
  await openAll(page, person);
  const { needles, attackInputs } = await collectNeedles(page, person);

  const search = new ByteSearch(needles);
  await test.step("planted needles are found, so the search can fail", async () => {
    for (const { name, bytes } of needles) {
      const middle = Math.floor(bytes.length / 2);
      const sample = bytes.length > 4096 ? bytes.subarray(middle, middle + 2048) : bytes;
      expect(
        findLeaks(
          search,
          makePlantedItems(Buffer.from(JSON.stringify({ kept: Buffer.from(sample).toString("base64url") }))),
        ),
        name,
      ).toContain(`${name}: planted`);
    }
  });

  await goToList(page);
  await page.getByRole("button", { name: "Lock", exact: true }).click();
  await expect(page.getByText("This device is locked").first()).toBeVisible();

  await softExpect
    .poll(
      async () => findLeaks(search, await readOriginStorage(page, portal.vaultOrigin, attackInputs)),
      "secrets that script in the page gets",
    )
    .toEqual([]);
  const storage = await readOriginStorage(page, portal.vaultOrigin, attackInputs);
  expect(storage.stored.length).toBeGreaterThan(10);
  expect
    .soft(
      storage.derived.map(({ where }) => where),
      "the metadata keys of an own device open the account's documents",
    )
    .toContainEqual(expect.stringMatching(/^a document .*relicario-book/));
  expect.soft(storage.undecrypted, "sealed here, and not opened by the attack").toEqual([]);
  expect
    .soft(
      storage.keys.filter(({ type, extractable }) => type !== "public" && extractable),
      "extractable keys",
    )
    .toEqual([]);

  await test.step("a page loaded later finds none either, before the vault has started", async () => {
    await page.goto("/healthz");
    expect
      .soft(findLeaks(search, await readOriginStorage(page, portal.vaultOrigin, attackInputs)), "stored secrets")
      .toEqual([]);
  });
});

const signOutPlaces = {
  "the list": null,
  "a screen that never asked for the vault": "/settings/profile",
} as const;

for (const [where, path] of Object.entries(signOutPlaces)) {
  test(`an attacker wants to know who used a shared computer, after sign-out from ${where}: finds nothing of the user`, async ({
    page,
    browser,
    portal,
  }) => {
    const person = newTestUser();
    const { account, passphrase } = person;
    const homeContext = await browser.newContext({ baseURL: portal.origin });
    const { needles, attackInputs, ids } = await test.step("a user protects secrets at home", async () => {
      const homePage = await homeContext.newPage();
      await protectAll(homePage, person);
      return collectNeedles(homePage, person);
    });
    await homeContext.close();

    await signIn(page, account);
    await openLink(page, person);
    await page.goto("/secrets");
    await page.getByRole("link", { name: "Unlock with your picture" }).click();
    await showPicture(page, picturePath, passphrase);
    await answerDeviceQuestion(page, "A shared device");
    await openAll(page, person);
    const storedSession = await page.evaluate(() => {
      const user = Object.keys(sessionStorage).find((name) => name.startsWith("oidc.user:"));
      return {
        user: user === undefined ? "" : (sessionStorage.getItem(user) ?? ""),
        token: sessionStorage.getItem("sessionToken") ?? "",
      };
    });
    const subject = /"sub":"([^"]+)"/.exec(storedSession.user)?.[1] ?? "";
    const userId =
      /"sub":"([^"]+)"/.exec(Buffer.from(storedSession.token.split(".")[1] ?? "", "base64url").toString())?.[1] ?? "";
    expect([subject.length > 8, userId.length > 8]).toEqual([true, true]);
    const personalNeedles = [
      ...needles,
      ...ids.map((id): Needle => ({ name: "id of a secret", kind: "text", bytes: Buffer.from(id) })),
      ...Object.entries({
        subject,
        userId,
        "user name": account.userName,
        "e-mail": account.email,
        "session token": storedSession.token,
      }).map(([name, value]): Needle => ({ name, kind: "text", bytes: Buffer.from(value) })),
    ];
    const search = new ByteSearch(personalNeedles);
    expect(
      findLeaks(search, await readOriginStorage(page, portal.vaultOrigin, attackInputs)),
      "while a user is signed in the search finds something",
    ).toContainEqual(expect.stringMatching(/^user name: session storage/));

    if (path !== null) await page.goto(path);
    await signOut(page);
    await page.goto("/healthz"); // the origin, without the portal's scripts
    const storage = await readOriginStorage(page, portal.vaultOrigin, attackInputs);
    expect.soft(findLeaks(search, storage), "what is left of the person").toEqual([]);
    expect.soft(storage.keys, "keys that are left").toEqual([]);
    const locations = [...new Set(storage.stored.map(({ where }) => where.replace(/ \(its key\)| \(its name\)/, "")))];
    expect
      .soft(
        locations.filter((where) => !allowedLocations.some((allowed) => allowed.test(where))),
        "what is left, except preferences, the deployment document and a new sign-in",
      )
      .toEqual([]);
  });
}

/** Locations that may stay, without any needle. */
const allowedLocations: readonly RegExp[] = [
  /^local storage\/(theme|language|onboarding|toursSeen|deployment|landingVisited)/,
  // of the tab, and of the new sign-in that starts when the portal is left signed out
  /^session storage\/(authRetry|pathAhead|oidc\.[0-9a-f]{32}|scrollPositions|releaseDraw|startTab)$/,
  /^local storage\/unsettledStart\./, // names of remotes, until the page that stored it has settled
  /^private files\/relicario-opened$/, // an empty folder
];
