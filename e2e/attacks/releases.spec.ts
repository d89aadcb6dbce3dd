/**
 * Attacker: a team's static server, or the store of deployment documents. It wants unsigned code to
 * run.
 */
import { readdir, readFile } from "node:fs/promises";
import path from "node:path";

import type { Browser, BrowserContext, Page } from "@playwright/test";
import { launchBrowser } from "@relicario/engine/browsers";

import { newAccount, signIn, signUp, type Account } from "../pages/account.ts";
import { choosePicture, pictureField } from "../pages/picture-field.ts";
import { markToursSeen } from "../support/onboarding.ts";
import { photographs } from "../support/photographs.ts";
import { expect, test as base } from "../support/portal-test.ts";
import { createReleaseTools, createUntrustedKey, type Deployment, type ReleaseRecord } from "../support/releases.ts";

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
const mainArea = (page: Page) => page.getByRole("main");
const profileHeading = (page: Page) => page.getByRole("heading", { name: "Profile" }).first();

/** Uses an empty browser cache. */
async function openFreshPage(
  browser: Browser,
  origin: string,
  account: Account,
): Promise<{ readonly page: Page; readonly context: BrowserContext }> {
  const context = await browser.newContext({ baseURL: origin });
  const page = await context.newPage();
  await signIn(page, account);
  return { page, context };
}

async function expectRestWorks(page: Page): Promise<void> {
  await navigation(page).getByRole("link", { name: "Shared with me" }).click();
  await expect(page.getByRole("heading", { level: 1, name: "Shared with me" })).toBeVisible();
  await navigation(page).getByRole("link", { name: "Secrets", exact: true }).click();
  await expect(page.getByRole("heading", { level: 1, name: "Secrets" })).toBeVisible();
  await expect(page.getByRole("button", { name: /^Sign out/ }).first()).toBeEnabled();
}

type Firefox = NonNullable<Awaited<ReturnType<typeof launchBrowser>>>;
type FirefoxPage = Awaited<ReturnType<Firefox["newPage"]>>;

/** Runs `scenario` in Firefox, on a page that has just signed in. */
async function withFirefox(
  origin: string,
  account: Account,
  scenario: (page: FirefoxPage, browser: Firefox) => Promise<void>,
): Promise<void> {
  const browser = await launchBrowser("Firefox");
  if (browser === null)
    throw new Error(
      "There is no Firefox to try the attacks in. Install one (Debian: apt-get install firefox-esr), or name one with RELICARIO_FIREFOX.",
    );
  try {
    const page = await browser.newPage();
    await page.setViewport({ width: 1280, height: 900 });
    page.setDefaultTimeout(60_000);
    await page.evaluateOnNewDocument(markToursSeen);
    await page.goto(origin);
    await page.locator("input[autocomplete=username]").fill(account.userName);
    await page.locator("input[type=password]").fill(account.password);
    await page.locator("form button[type=submit]").click();
    await page.locator('nav a[href="/secrets"]').wait();
    await scenario(page, browser);
  } finally {
    await browser.close();
  }
}

const goTo = (page: FirefoxPage, path: string): Promise<void> => page.locator(`nav a[href="${path}"]`).click();

async function expectRestWorksInFirefox(page: FirefoxPage): Promise<void> {
  for (const [address, heading] of [
    ["/recived", "Shared with me"],
    ["/secrets", "Secrets"],
  ] as const) {
    await goTo(page, address);
    await page.locator(`main h1::-p-text(${heading})`).wait();
  }
}

/** Finds the chunk of the profile, the first screen of Settings. */
async function findLazyChunk(folder: string): Promise<string> {
  for (const file of await readdir(folder)) {
    if (
      /^[0-9]+\.js$/.test(file) &&
      (await readFile(path.join(folder, file), "utf8")).includes("/user/validate-username")
    )
      return file;
  }
  throw new Error(`${folder} has no chunk of the profile`);
}

async function findAsset(
  releases: ReturnType<typeof createReleaseTools>,
  release: string,
  name: RegExp,
): Promise<string> {
  const asset = (await releases.listFiles(release, "assets")).find((file) => name.test(file));
  if (asset === undefined) throw new Error(`${release} has no ${String(name)}`);
  return asset;
}

/** A change after which Settings must fail. `apply` returns a function that undoes it. */
interface Attack {
  readonly name: string;
  readonly apply: (releases: ReturnType<typeof createReleaseTools>) => Promise<() => Promise<void>>;
  /**
   * Whether the area works again without a reload: a whole release is refused at the start of a
   * page.
   */
  readonly recovers: boolean;
}

const makeTamperedFileAttack = (kind: string, find: (folder: string) => string | Promise<string>): Attack => ({
  name: `one byte more in ${kind}`,
  apply: async (releases) => {
    const release = await releases.findStableRelease("settings");
    return releases.appendByte(release, await find(releases.folderOf(release)));
  },
  recovers: true,
});

const makeReplacedRecordAttack = (
  name: string,
  sign: (releases: ReturnType<typeof createReleaseTools>, record: ReleaseRecord, folder: string) => Promise<string>,
): Attack => ({
  name,
  apply: async (releases) => {
    const release = await releases.findStableRelease("settings");
    const { release_records: records } = await releases.readDeployment();
    return releases.patchDeployment({
      release_records: {
        ...records,
        [release]: await sign(releases, await releases.readRecord(release), releases.folderOf(release)),
      },
    });
  },
  recovers: false,
});

const attacks: readonly Attack[] = [
  makeTamperedFileAttack("the entry", () => "remoteEntry.js"),
  makeTamperedFileAttack("the exposed chunk", () => "remote.js"),
  makeTamperedFileAttack("a lazy chunk", findLazyChunk),
  makeTamperedFileAttack("a text", () => "locales/en/settings.json"),
  makeReplacedRecordAttack("a missing hash", async (releases, record, folder) => {
    const { [await findLazyChunk(folder)]: _hash, ...files } = record.files;
    return releases.signRecord("settings", { ...record, files });
  }),
  makeReplacedRecordAttack("a record signed by an unknown key", (releases, record) =>
    releases.signRecord("settings", record, createUntrustedKey()),
  ),
  makeReplacedRecordAttack("a record signed by another key under the team's name", async (releases, record) =>
    releases.signRecord("settings", record, createUntrustedKey((await releases.readTeamKey("settings")).kid)),
  ),
  makeReplacedRecordAttack("a manifest that points to another origin", (releases, record) =>
    releases.signRecord("settings", {
      ...record,
      federation: { ...record.federation, metaData: { publicPath: "https://evil.example/" } },
    }),
  ),
];

for (const { name, apply, recovers } of attacks) {
  test(`${name} of a remote: its area shows an error, and the rest works`, async ({ browser, portal, account }) => {
    const restore = await apply(createReleaseTools(portal));
    const { page, context } = await openFreshPage(browser, portal.origin, account);
    const expectFailure = async () => {
      await navigation(page).getByRole("link", { name: "Settings" }).click();
      await expect(mainArea(page).getByRole("alert")).toContainText("not available right now", { timeout: 60_000 });
    };
    await expectFailure();
    await expectRestWorks(page);
    await expectFailure();
    await restore();
    if (recovers) {
      await mainArea(page).getByRole("button", { name: "Try again" }).click();
    } else {
      await page.reload();
    }
    await expect(profileHeading(page)).toBeVisible({ timeout: 60_000 });
    await context.close();
  });

  test(`${name} of a remote, in Firefox: its area shows an error, and the rest works`, async ({ portal, account }) => {
    const restore = await apply(createReleaseTools(portal));
    try {
      await withFirefox(portal.origin, account, async (page) => {
        await goTo(page, "/settings/profile");
        await page.locator("main [role=alert]::-p-text(not available right now)").wait();
        await expectRestWorksInFirefox(page);
      });
    } finally {
      await restore();
    }
  });
}

test("one byte more in the vault's worker: the vault's origin does not serve it", async ({ portal }) => {
  const releases = createReleaseTools(portal);
  const release = await releases.findStableRelease("recovery");
  const file = await findAsset(releases, release, /vault-worker\.[0-9a-f]+\.js$/);
  const address = `${portal.vaultOrigin}/r/recovery/${release}/${file}`;
  const signedBytes = await (await fetch(address)).bytes();
  const restore = await releases.appendByte(release, file);
  try {
    const response = await fetch(address);
    // the gateway keeps what it verified, else it refuses
    if (response.ok) expect(Buffer.from(await response.bytes()).equals(signedBytes)).toBe(true);
    else expect(response.status).toBe(502);
  } finally {
    await restore();
  }
});

test("one byte more in the engine's WASM, in Firefox: no picture is processed, and the rest works", async ({
  portal,
  account,
}) => {
  const releases = createReleaseTools(portal);
  const release = await releases.findStableRelease("recovery");
  const restore = await releases.appendByte(
    release,
    await findAsset(releases, release, /engine-simd\.[0-9a-f]+\.wasm$/),
  );
  try {
    await withFirefox(portal.origin, account, async (page) => {
      await goTo(page, "/add-secret");
      const element = await (await page.waitForSelector("iframe[data-vault-element=picture]"))?.contentFrame();
      const chooser = await element?.waitForSelector("input[type=file]");
      await chooser?.uploadFile(photographs.small);
      await element?.waitForSelector("::-p-text(The part that encrypts and opens secrets did not load)");
      await expectRestWorksInFirefox(page);
    });
  } finally {
    await restore();
  }
});

test("one byte more in the engine's WASM: no picture is processed, the rest works, and trying again loads it", async ({
  browser,
  portal,
  account,
}) => {
  const releases = createReleaseTools(portal);
  const release = await releases.findStableRelease("recovery");
  const restore = await releases.appendByte(
    release,
    await findAsset(releases, release, /engine-simd\.[0-9a-f]+\.wasm$/),
  );
  const { page, context } = await openFreshPage(browser, portal.origin, account);
  const chooseNewPicture = async () => {
    await navigation(page).getByRole("link", { name: "Add secret" }).click();
    await choosePicture(page, photographs.small);
  };
  await chooseNewPicture();
  await expect(
    pictureField(page).getByText("The part that encrypts and opens secrets did not load").first(),
  ).toBeVisible({
    timeout: 60_000,
  });
  await expectRestWorks(page);
  await restore();
  await chooseNewPicture();
  await expect(pictureField(page).getByText("This picture has enough detail")).toBeVisible({ timeout: 60_000 });
  await context.close();
});

test("one byte more in the stylesheet: it is not applied, and the portal works", async ({
  browser,
  portal,
  account,
}) => {
  const { page, context } = await openFreshPage(browser, portal.origin, account);
  const countStylesheets = () =>
    page.evaluate(() => [...document.styleSheets].filter(({ href }) => href !== null).length);
  expect(await countStylesheets()).toBe(1); // the host's; remotes have none
  await page.route("**/static/*.css", async (route) => {
    const response = await route.fetch();
    await route.fulfill({ response, body: `${await response.text()} ` });
  });
  await page.reload();
  await expectRestWorks(page);
  expect(await countStylesheets()).toBe(0);
  await context.close();
});

const dayMs = 24 * 3_600_000;
const daysFromNow = (days: number): string => new Date(Date.now() + days * dayMs).toISOString();
const invalidSignatureMessage = "is not signed as it should be";

for (const [kind, change, message, key] of [
  ["signed by an unknown key", () => ({}), invalidSignatureMessage, () => createUntrustedKey()],
  [
    "signed by another key under the portal's name",
    () => ({}),
    invalidSignatureMessage,
    (kid: string) => createUntrustedKey(kid),
  ],
  ["of another vendor", () => ({ vendor_id: "acme" }), invalidSignatureMessage],
  ["of another origin", () => ({ origin: "https://evil.example" }), invalidSignatureMessage],
  ["that is valid for more than a week", () => ({ not_after: daysFromNow(30) }), invalidSignatureMessage],
  ["that is expired", () => ({ issued_at: daysFromNow(-3), not_after: daysFromNow(-1) }), "is out of date"],
  [
    "with a lower sequence",
    ({ sequence }: Deployment) => ({ sequence: sequence - 1 }),
    "an older description of its parts",
  ],
] as readonly (readonly [
  string,
  (currentDocument: Deployment) => Partial<Deployment>,
  string,
  ((kid: string) => ReturnType<typeof createUntrustedKey>)?,
])[]) {
  test(`a document ${kind}: an open page keeps working, and a new one says why it does not start`, async ({
    browser,
    portal,
    account,
  }) => {
    const releases = createReleaseTools(portal);
    const currentDocument = await releases.readDeployment();
    const { page, context } = await openFreshPage(browser, portal.origin, account);
    const restore = await releases.patchDeployment(
      { sequence: currentDocument.sequence + 1, ...change(currentDocument) },
      key?.((await releases.readPortalKey()).kid),
    );
    await expectRestWorks(page);
    await navigation(page).getByRole("link", { name: "Settings" }).click();
    await expect(profileHeading(page)).toBeVisible();
    const secondPage = await context.newPage();
    await secondPage.goto("/home");
    await expect(secondPage.getByRole("alert").first()).toContainText(message);
    await restore();
    await secondPage.getByRole("button", { name: "Try again" }).click();
    await expect(secondPage.getByRole("alert")).toHaveCount(0);
    await context.close();
  });

  test(`a document ${kind}, in Firefox: an open page keeps working, and a new one says why it does not start`, async ({
    portal,
    account,
  }) => {
    const releases = createReleaseTools(portal);
    await withFirefox(portal.origin, account, async (page, browser) => {
      const currentDocument = await releases.readDeployment();
      const restore = await releases.patchDeployment(
        { sequence: currentDocument.sequence + 1, ...change(currentDocument) },
        key?.((await releases.readPortalKey()).kid),
      );
      try {
        await expectRestWorksInFirefox(page);
        const secondPage = await browser.newPage();
        secondPage.setDefaultTimeout(60_000);
        await secondPage.goto(`${portal.origin}/home`);
        await secondPage.locator(`[role=alert]::-p-text(${message})`).wait();
      } finally {
        await restore();
      }
    });
  });
}

test("unsigned script is not started by code that runs in the page", async ({ browser, portal, account }) => {
  const { page, context } = await openFreshPage(browser, portal.origin, account);
  const release = await createReleaseTools(portal).findStableRelease("secrets");
  const attempts = await page.evaluate(async (signedUrl) => {
    const readOutcome = async (attempt: () => unknown): Promise<string> => {
      try {
        await attempt();
        return "done";
      } catch (error) {
        return error instanceof Error ? error.name : "refused";
      }
    };
    const appendScript = (edit: (script: HTMLScriptElement) => void) => () =>
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
      signedWithoutHash: await readOutcome(
        appendScript((script) => {
          script.src = signedUrl;
        }),
      ),
      notSigned: await readOutcome(
        appendScript((script) => {
          script.src = "/r/secrets/other.js";
        }),
      ),
      inline: await readOutcome(() => {
        document.createElement("script").text = "1";
      }),
      html: await readOutcome(() => {
        document.createElement("div").innerHTML = "<b>1</b>";
      }),
      worker: await readOutcome(
        () =>
          new Promise((_resolve, reject) => {
            new Worker(signedUrl).onerror = () => {
              reject(new DOMException("", "NotLoaded"));
            };
          }),
      ),
    };
  }, `${portal.origin}/r/secrets/${release}/remote.js`);
  expect(attempts).toEqual({
    signedWithoutHash: "NotLoaded",
    notSigned: "TypeError",
    inline: "TypeError",
    html: "TypeError",
    worker: "NotLoaded",
  });
  await context.close();
});
