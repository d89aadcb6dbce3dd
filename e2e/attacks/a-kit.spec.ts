/**
 * What somebody may want of a kit that lies about: to change it unseen, to have a title run, to have it call somewhere. Tried on
 * the file from the disk, in Chromium and in Firefox.
 */
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import path from "node:path";
import { pathToFileURL } from "node:url";

import { start, type BrowserName } from "@relicario/engine/browsers";

import { newAccount, signUp } from "../pages/account.ts";
import { makeKit } from "../pages/kit.ts";
import { answerDevice, protect } from "../pages/secrets.ts";
import { messengerCopies, photographs } from "../support/photographs.ts";
import { expect, test } from "../support/portal-test.ts";
import { sentinel } from "../support/sentinel.ts";

type Browser = NonNullable<Awaited<ReturnType<typeof start>>>;

const browsers = ["Chromium", "Firefox"] as const satisfies readonly BrowserName[];

async function browserOf(name: BrowserName): Promise<Browser> {
  const browser = await start(name);
  if (browser === null) throw new Error(`There is no ${name}: install it, or name one with RELICARIO_${name.toUpperCase()}.`);
  return browser;
}

interface Seen {
  /** Texts of the opened secrets by their titles, or null when the kit was not opened. */
  readonly texts: Readonly<Record<string, string>> | null;
  readonly says: string;
  readonly title: string;
  readonly asked: readonly string[];
}

/** Opens a file as a person would, reveals what is in it, and says what was seen. */
async function openIn(browser: Browser, file: string, picture: string): Promise<Seen> {
  const page = await browser.newPage();
  const asked: string[] = [];
  page.on("request", (request) => asked.push(request.url()));
  page.on("dialog", (dialog) => {
    asked.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  try {
    await page.goto(pathToFileURL(file).href);
    const input = await page.$("#picture");
    if (input !== null) {
      await (input as unknown as { uploadFile: (path: string) => Promise<void> }).uploadFile(picture);
      await page.click("button[type=submit]");
      await page.waitForFunction(() => document.querySelector("article") !== null || (document.querySelector("[role=alert]")?.textContent ?? "") !== "", { timeout: 120_000 });
    }
    const texts = await page.evaluate(async () => {
      const secrets = [...document.querySelectorAll("article")];
      if (secrets.length === 0) return null;
      for (const button of document.querySelectorAll<HTMLButtonElement>("article button[aria-expanded]")) button.click();
      const shown = () => secrets.map((secret) => [secret.querySelector("h3")?.textContent ?? "", secret.querySelector("pre")?.textContent ?? null] as const);
      while (shown().some(([, text], at) => text === null && secrets[at]?.querySelector(".error:not(:empty)") === null)) await new Promise((resolve) => requestAnimationFrame(resolve));
      return Object.fromEntries(shown().map(([title, text]) => [title, text ?? ""]));
    });
    return { texts, says: await page.evaluate(() => document.body.innerText), title: await page.title(), asked: asked.filter((address) => !/^(file|blob|data):/.test(address)) };
  } finally {
    await page.close();
  }
}

test("somebody wants what is written in a kit to run, to call out, or a changed kit to open", async ({ page }) => {
  test.setTimeout(600_000);
  const calls: string[] = [];
  const listener = createServer((request, response) => {
    calls.push(request.url ?? "");
    response.end();
  }).listen(0, "127.0.0.1");
  const address = listener.address();
  const outside = `http://127.0.0.1:${String(address !== null && typeof address === "object" ? address.port : 0)}`;
  const attack = `</script><script>document.title="owned";fetch("${outside}/script")</script><img src="${outside}/image" onerror="document.title='owned'">`;
  const secret = { title: `${attack}${sentinel()}`.slice(0, 200), text: `${attack} ${sentinel()}` };
  const folder = await mkdtemp(path.join(tmpdir(), "relicario-kit-"));
  const sent = path.join(folder, "sent.jpg");
  await writeFile(sent, (await messengerCopies["1280 pixels, quality 75"](photographs.small)).buffer);

  await signUp(page, newAccount());
  await protect(page, { text: secret.text, title: secret.title, tags: [], image: { file: photographs.small, passphrase: null } });
  await answerDevice(page, "My own device");
  const kit = await makeKit(page, folder, photographs.small, null);
  const bytes = await readFile(kit.file);
  const right = { [secret.title]: secret.text };

  for (const name of browsers) {
    await test.step(`in ${name} it opens from the disk, and whatever is written in it stays text`, async () => {
      const browser = await browserOf(name);
      try {
        const seen = await openIn(browser, kit.file, sent);
        expect(seen).toMatchObject({ texts: right, title: "Kit for opening secrets", asked: [] });
      } finally {
        await browser.close();
      }
    });
  }
  expect(calls).toEqual([]);

  await test.step("a byte that is changed anywhere is noticed, or changes nothing", async () => {
    const browser = await browserOf("Chromium");
    const html = bytes.toString("latin1");
    const within = (mark: string, further: number): number => html.indexOf(mark) + mark.length + further;
    const places: Readonly<Record<string, number>> = {
      "the document type": 4,
      "the policy": within("connect-src '", 1),
      "the hash of the script": within("script-src 'sha256-", 5),
      "the style": within("<style>", 200),
      "the first words": within("<main>", 40),
      "the worker": within('id="kit-part-worker">', 90_000),
      "the engine": within('id="kit-part-engine-simd">', 9_000),
      "a decoder": within('id="kit-part-jpeg">', 30_000),
      "the digest of the kit": within('data-sha256="', 7),
      "the helper": within('"helper":"', 300),
      "the ticket": within('"ticket":"', 2_500),
      "the content": within('"content":"', 1_500),
      "the signing key": within('"signing_keys":["', 9),
      "the script's digests": within("const kitParts = {", 30),
      "the script": html.lastIndexOf("<script>") + 60_000,
      "the end": html.length - 4,
    };
    try {
      const opened: string[] = [];
      for (const [place, at] of Object.entries(places)) {
        const changed = Buffer.from(bytes);
        changed[at] = (changed[at] ?? 0) ^ 1;
        const file = path.join(folder, "changed.html");
        await writeFile(file, changed);
        const { texts, says, asked } = await openIn(browser, file, sent);
        expect([place, asked]).toEqual([place, []]);
        if (texts === null) expect([place, says]).toEqual([place, expect.stringMatching(/was changed or is damaged|cannot open the kit|cannot be read/)]);
        else expect([place, texts]).toEqual([place, right]);
        if (texts !== null) opened.push(place);
      }
      expect(opened).not.toContain("the worker");
      expect(opened).not.toContain("the script");
      expect(opened).not.toContain("the ticket");
    } finally {
      await browser.close();
    }
  });
  expect(calls).toEqual([]);
  listener.close();
  await rm(folder, { recursive: true, force: true });
});
