/**
 * What somebody may want of a kit that lies about: to change it unseen, to have a title or a file
 * name run, to have it call somewhere. Tried on the file from the disk, without a network, in
 * Chromium and in Firefox, and by the command line.
 */
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { pathToFileURL } from "node:url";

import { start, type BrowserName } from "@relicario/engine/browsers";

import { newAccount, signUp } from "../pages/account.ts";
import { makeKit } from "../pages/kit.ts";
import { answerDevice, protect, protectFile, type NewFile } from "../pages/secrets.ts";
import { DeadProxy } from "../support/dead-proxy.ts";
import { hostileNames } from "../support/hostile-names.ts";
import { messengerCopies, photographs } from "../support/photographs.ts";
import { expect, test } from "../support/portal-test.ts";
import { relicarioOpen } from "../support/relicario-open.ts";
import { sentinel } from "../support/sentinel.ts";

type Browser = NonNullable<Awaited<ReturnType<typeof start>>>;
type Tab = Awaited<ReturnType<Browser["newPage"]>>;

const browsers = ["Chromium", "Firefox"] as const satisfies readonly BrowserName[];

/** Whom browsers ask by themselves, whatever is open: for the time, for updates, for lists. */
const makers =
  /^(GET|POST|CONNECT) (https?:\/\/)?([a-z0-9-]+\.)*(mozilla\.(com|net|org)|google\.com|googleapis\.com|gvt1\.com)[:/]/;

interface OfflineBrowser {
  readonly browser: Browser;
  /** What was asked of the network, but for what the browser asks of its maker. */
  readonly asked: () => readonly string[];
  readonly close: () => Promise<void>;
}

/**
 * The network is off by force: all that the browser sends, to loopback too, ends at a proxy that
 * answers nothing and notes it.
 */
async function offlineBrowser(name: BrowserName, downloads: string): Promise<OfflineBrowser> {
  const proxy = await DeadProxy.start();
  const browser = await start(name, { proxy: proxy.address, downloads });
  if (browser === null)
    throw new Error(`There is no ${name}: install it, or name one with RELICARIO_${name.toUpperCase()}.`);
  return {
    browser,
    asked: () => proxy.asked().filter((line) => !makers.test(line)),
    close: async () => {
      await browser.close();
      await proxy.stop();
    },
  };
}

interface Shown {
  readonly picture: string;
  readonly passphrase: string;
}

/**
 * Opens a file as a person would, and shows it a picture. `seen` also gets what the page asked for
 * and which dialogs it opened.
 */
async function showTo(browser: Browser, file: string, { picture, passphrase }: Shown, seen: string[]): Promise<Tab> {
  const page = await browser.newPage();
  page.on("request", (request) => {
    if (!/^(file|blob|data):/.test(request.url())) seen.push(request.url());
  });
  page.on("dialog", (dialog) => {
    seen.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  await page.goto(pathToFileURL(file).href);
  const input = await page.$("#picture");
  if (input === null) return page;
  await (input as unknown as { uploadFile: (path: string) => Promise<void> }).uploadFile(picture);
  await page.type("#passphrase", passphrase);
  await page.click("button[type=submit]");
  await page.waitForFunction(
    () =>
      document.querySelector("article") !== null || (document.querySelector("[role=alert]")?.textContent ?? "") !== "",
    { timeout: 120_000 },
  );
  return page;
}

/**
 * Texts of the opened secrets by their titles, revealed, and names of the opened files; null when
 * the kit was not opened.
 */
function contentsOf(page: Tab): Promise<Readonly<Record<string, string>> | null> {
  return page.evaluate(async () => {
    const secrets = [...document.querySelectorAll("article")];
    if (secrets.length === 0) return null;
    for (const button of document.querySelectorAll<HTMLButtonElement>("article button[aria-expanded]")) button.click();
    const contentOf = (secret: Element) =>
      (secret.querySelector("button[aria-expanded]") === null
        ? secret.querySelector("dd")
        : secret.querySelector("pre")
      )?.textContent ?? null;
    const shown = () =>
      secrets.map((secret) => [secret.querySelector("h3")?.textContent ?? "", contentOf(secret)] as const);
    while (
      shown().some(([, content], at) => content === null && secrets[at]?.querySelector(".error:not(:empty)") === null)
    )
      await new Promise((resolve) => requestAnimationFrame(resolve));
    return Object.fromEntries(shown().map(([title, content]) => [title, content ?? ""]));
  });
}

/** Saves every file that is open. */
async function saveFiles(page: Tab): Promise<void> {
  for (const secret of await page.$$("article")) {
    if ((await secret.$("button[aria-expanded]")) === null) await (await secret.$("button"))?.click();
  }
}

const textOf = (page: Tab): Promise<string> => page.evaluate(() => document.body.innerText);

/** What lies in a folder, by name, with its content. */
async function filesIn(folder: string): Promise<Record<string, string>> {
  const names = await readdir(folder, { recursive: true });
  return Object.fromEntries(
    await Promise.all(names.map(async (name) => [name, await readFile(path.join(folder, name), "utf8")] as const)),
  );
}

test("somebody wants what is written in a kit to run, to call out, or a changed kit to open", async ({ page }) => {
  test.setTimeout(1_200_000);
  const outside = "http://127.0.0.1:8123";
  const attack = `</script><script>document.title="owned";fetch("${outside}/script")</script><img src="${outside}/image" onerror="document.title='owned'">`;
  const secret = { title: `${attack}${sentinel()}`.slice(0, 200), text: `${attack} ${sentinel()}` };
  const files = Object.keys(hostileNames).map((name, at): NewFile => ({
    title: `<i>${String(at)}</i> \u202e${sentinel()}`,
    name,
    content: Buffer.from(`${attack} ${String(at)}`),
  }));
  const folder = await mkdtemp(path.join(tmpdir(), "relicario-kit-"));
  const passphrase = `four words and ${sentinel()}`;
  const shown: Shown = { picture: path.join(folder, "sent.jpg"), passphrase };
  await writeFile(shown.picture, (await messengerCopies["1280 pixels, quality 75"](photographs.small)).buffer);

  await signUp(page, newAccount());
  await protect(page, {
    text: secret.text,
    title: secret.title,
    tags: [],
    image: { file: photographs.small, passphrase },
  });
  await answerDevice(page, "My own device");
  for (const file of files) await protectFile(page, file);
  const kit = await makeKit(page, folder, photographs.small, passphrase);
  const bytes = await readFile(kit.file);
  const right = { [secret.title]: secret.text, ...Object.fromEntries(files.map(({ title, name }) => [title, name])) };
  const saved = Object.fromEntries(files.map(({ name, content }) => [hostileNames[name] ?? "", content.toString()]));

  for (const name of browsers) {
    await test.step(`in ${name} it opens from the disk without a network, and whatever is written in it stays text`, async () => {
      const downloads = path.join(folder, name);
      await mkdir(downloads);
      const { browser, asked, close } = await offlineBrowser(name, downloads);
      const seen: string[] = [];
      try {
        const refused = await showTo(browser, kit.file, { ...shown, passphrase: `${passphrase}x` }, seen);
        expect(await textOf(refused)).toContain("not the picture of this kit, or not its passphrase");
        const opened = await showTo(browser, kit.file, shown, seen);
        expect(await contentsOf(opened)).toEqual(right);
        await saveFiles(opened);
        await expect.poll(() => filesIn(downloads), { timeout: 60_000 }).toEqual(saved);
        expect(await opened.title()).toBe("Kit for opening secrets");
        expect(seen).toEqual([]);

        // What a page does ask for is noted, on loopback too: the record can fail. Nothing else is
        // in it.
        await opened.goto(`${outside}/asked`).catch(() => undefined);
        expect([...new Set(asked())]).toEqual([`GET ${outside}/asked HTTP/1.1`]);
      } finally {
        await close();
      }
    });
  }

  await test.step("by the command line every file has a safe name, and a terminal is told text alone", async () => {
    const out = path.join(folder, "out");
    await mkdir(out);
    const { code, said, complained } = await relicarioOpen(
      [kit.file, shown.picture, "--passphrase-stdin", "--out", out],
      { folder, input: passphrase },
    );
    expect({ code, complained }).toEqual({ code: 0, complained: "" });
    expect(said.replaceAll("\n", "")).not.toMatch(/[\p{Cc}\p{Cf}]/u);
    expect(await filesIn(out)).toEqual({ ...saved, "secret.txt": secret.text });
  });

  const html = bytes.toString("latin1");
  const within = (mark: string, further: number): number => html.indexOf(mark) + mark.length + further;
  /** What opening goes through: a kit that was changed there never opens. */
  const needed: Readonly<Record<string, number>> = {
    "the worker": within('id="kit-part-worker">', 90_000),
    "the engine": within('id="kit-part-engine-simd">', 9_000),
    "the decoder of the picture": within('id="kit-part-jpeg">', 30_000),
    "the digest of the kit": within('data-sha256="', 7),
    "the helper": within('"helper":"', 300),
    "the ticket": within('"ticket":"', 2_500),
    "the content": within('"content":"', 1_500),
    "the signing key": within('"signing_keys":["', 9),
    "the script's digests": within("const kitParts = {", 30),
    "the script": html.lastIndexOf("<script>") + 60_000,
    "the hash of the script": within("script-src 'sha256-", 5),
  };
  const others: Readonly<Record<string, number>> = {
    "the document type": 4,
    "the policy": within("connect-src '", 1),
    "the style": within("<style>", 200),
    "the first words": within("<main>", 40),
    "another decoder": within('id="kit-part-webp">', 30_000),
    "the end": html.length - 4,
  };
  for (const name of browsers) {
    await test.step(`in ${name} a byte that is changed anywhere is noticed, or changes nothing`, async () => {
      const { browser, asked, close } = await offlineBrowser(name, folder);
      const opened: string[] = [];
      try {
        for (const [place, at] of Object.entries({ ...needed, ...others })) {
          const changed = Buffer.from(bytes);
          changed[at] = (changed[at] ?? 0) ^ 1;
          const file = path.join(folder, "changed.html");
          await writeFile(file, changed);
          const seen: string[] = [];
          const tab = await showTo(browser, file, shown, seen);
          const contents = await contentsOf(tab);
          expect([place, seen]).toEqual([place, []]);
          if (contents === null)
            expect([place, await textOf(tab)]).toEqual([
              place,
              expect.stringMatching(/was changed or is damaged|cannot open the kit|cannot be read/),
            ]);
          else expect([place, contents]).toEqual([place, right]);
          if (contents !== null) opened.push(place);
          await tab.close();
        }
        expect(opened.filter((place) => place in needed)).toEqual([]);
        expect(opened).toContain("the end"); // an untouched program opens: the test would see it
        expect(asked()).toEqual([]);
      } finally {
        await close();
      }
    });
  }
  await rm(folder, { recursive: true, force: true });
});
