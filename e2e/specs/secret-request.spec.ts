import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";

import { chromium, type BrowserContext, type BrowserContextOptions, type Page } from "@playwright/test";

import { newAccount, signUp } from "../pages/account.ts";
import { answerDevice, protect } from "../pages/secrets.ts";
import { chromiumArguments } from "../support/browser.ts";
import { digestOfFile, writeLargeFile } from "../support/large-file.ts";
import { withoutTours } from "../support/onboarding.ts";
import { photographs } from "../support/photographs.ts";
import { expect, test } from "../support/portal-test.ts";
import { sentinel } from "../support/sentinel.ts";

const mebibytes = 64;
const patience = { timeout: 120_000 };

/** Asks for something, on a page that has shown a picture since load; gives the link. */
async function ask(page: Page, title: string, note: string): Promise<string> {
  await page.goto("/ask-for-secret");
  await page.getByLabel("What do you need?").fill(title);
  await page.getByLabel(/What for\?/).fill(note);
  await page.getByLabel("Who asks?").fill("Ana of the second floor");
  await page.getByRole("button", { name: "Make the link" }).click();
  const panel = page.getByRole("group", { name: /Show one of your pictures/ });
  await panel.getByLabel("Picture file").setInputFiles(photographs.small);
  await panel.getByRole("button", { name: "Make the link" }).click();
  const link = page.getByLabel("The link", { exact: true });
  await expect(link).toBeVisible(patience);
  return (await link.textContent()) ?? "";
}

/** Opens what came, with a picture. */
async function openAnswer(page: Page, title: string): Promise<void> {
  await page.goto("/asked-for");
  const card = page.getByRole("listitem").filter({ has: page.getByRole("heading", { name: title }) });
  await expect(card.getByText("Something came")).toBeVisible();
  await card.getByRole("button", { name: "Open what came" }).click();
  await card.getByLabel("Picture file").setInputFiles(photographs.small);
  await card
    .getByRole("group", { name: /Show one of your pictures/ })
    .getByRole("button", { name: "Open what came" })
    .click();
  await expect(card.getByRole("group", { name: "What came" })).toBeVisible(patience);
}

const receipt = (page: Page, name: string): Promise<string[]> =>
  page.getByRole("list", { name }).getByRole("listitem").allTextContents();

test("secret-request: somebody without an account answers by a text, and by a file that was interrupted", async ({
  portal,
  planted,
}) => {
  test.setTimeout(900_000);
  const folder = await mkdtemp(path.join(tmpdir(), "relicario-request-"));
  const film = path.join(folder, `film-${sentinel()}.mp4`);
  const expected = await writeLargeFile(film, mebibytes);
  const profiles: BrowserContext[] = [];
  const newProfile = async (
    name: string,
    look: Pick<BrowserContextOptions, "locale" | "viewport" | "colorScheme" | "hasTouch"> = { locale: "en-GB" },
  ): Promise<Page> => {
    const context = await chromium.launchPersistentContext(path.join(folder, name), {
      ...chromiumArguments(),
      baseURL: portal.origin,
      ...look,
      acceptDownloads: true,
    });
    profiles.push(context);
    const page = context.pages()[0] ?? (await context.newPage());
    await withoutTours(page);
    await page.addInitScript(() => {
      Reflect.deleteProperty(globalThis, "showSaveFilePicker"); // nobody can answer the system's own dialog here
    });
    return page;
  };
  const [title, note, answer] = [`Title ${sentinel()}`, `Note ${sentinel()}`, `Answer ${sentinel()}`];
  const filmTitle = `The film ${sentinel()}`;
  for (const text of [title, note, answer, filmTitle, path.basename(film)]) planted.text(text);

  try {
    const owner = await newProfile("owner");
    const links = await test.step("a person asks twice, and gets a link for each", async () => {
      await signUp(owner, newAccount());
      await protect(owner, {
        text: "mine",
        title: "Mine",
        tags: [],
        image: { file: photographs.small, passphrase: null },
      });
      await answerDevice(owner, "My own device");
      return [await ask(owner, title, note), await ask(owner, filmTitle, "")] as const;
    });
    for (const link of links) planted.link(link);
    expect(links[0]).toMatch(/\/request\/[\w-]{22}#s=[\w-]{43}$/);

    const phone = await newProfile("phone", {
      locale: "es-ES",
      viewport: { width: 390, height: 844 },
      colorScheme: "dark",
      hasTouch: true,
    });
    const words =
      await test.step("somebody else sees who asks for what, and sends a text, on a phone, in Spanish and dark", async () => {
        const sent: string[] = [];
        phone.on("request", (request) => sent.push(`${request.url()} ${request.postData() ?? ""}`));
        await phone.goto(links[0]);
        await expect(phone.getByRole("heading", { level: 2, name: title })).toBeVisible(patience);
        expect(phone.url()).not.toContain("#");
        await phone.getByLabel("Tu texto").fill(answer);
        await phone.getByRole("button", { name: "Sellar y enviar" }).click();
        await expect(phone.getByRole("heading", { name: "Enviado" })).toBeVisible(patience);
        const key = links[0].split("#s=")[1] ?? "";
        for (const secret of [title, note, answer, key]) expect(sent.filter((one) => one.includes(secret))).toEqual([]);
        return receipt(phone, "Palabras de tu recibo");
      });
    expect(words).toHaveLength(8);

    await test.step("whoever asked opens it with a picture, sees the same words, and keeps it", async () => {
      await openAnswer(owner, title);
      const came = owner.getByRole("group", { name: "What came" });
      expect(await receipt(owner, "Words of the receipt")).toEqual(words);
      await came.getByRole("button", { name: "Show", exact: true }).click();
      await expect(came.getByText(answer)).toBeVisible();
      await came.getByRole("button", { name: "Keep it among my secrets" }).click();
      await expect(came.getByText("It is among your secrets now", { exact: false })).toBeVisible(patience);
      await came.getByRole("button", { name: "I have it" }).click();
      await expect(owner.getByText("Collected", { exact: true })).toBeVisible(patience);
      await owner.goto("/secrets");
      await expect(owner.getByText(title)).toBeVisible();
    });

    const provider = await newProfile("provider");
    const sentBefore = await test.step("a file is sent, and its tab closed half way", async () => {
      const page = await provider.context().newPage();
      await withoutTours(page);
      await page.goto(links[1]);
      await page.getByRole("radio", { name: "File" }).check(patience);
      await page.getByLabel("File to send").setInputFiles(film);
      let sent = 0;
      const halfWay = new Promise<void>((resolve) => {
        page.on("requestfinished", (request) => {
          if (request.method() === "POST" && /\/requests\/answer\/./.test(request.url()) && ++sent === 4) resolve();
        });
      });
      await page.getByRole("button", { name: "Seal and send" }).click();
      await halfWay;
      await page.context().setOffline(true);
      await page.close({ runBeforeUnload: false });
      await provider.context().setOffline(false);
      return sent;
    });

    await test.step("the link once more, and the same file: it goes on where it stopped", async () => {
      const page = await provider.context().newPage();
      await withoutTours(page);
      let sent = 0;
      page.on("requestfinished", (request) => {
        if (request.method() === "POST" && /\/requests\/answer\/./.test(request.url())) sent++;
      });
      await page.goto(links[1]);
      await expect(page.getByText("You began to send something")).toBeVisible(patience);
      await page.getByLabel("File to send").setInputFiles(film);
      await page.getByRole("button", { name: "Go on sending" }).click();
      await expect(page.getByRole("heading", { name: "It was sent" })).toBeVisible(patience);
      expect(sent).toBeGreaterThan(0);
      expect(sent).toBeLessThanOrEqual(Math.ceil(mebibytes / 8) + 1 - sentBefore);
    });

    await test.step("the film comes back byte for byte, and is deleted", async () => {
      await openAnswer(owner, filmTitle);
      const came = owner.getByRole("group", { name: "What came" });
      const [download] = await Promise.all([
        owner.waitForEvent("download", patience),
        came.getByRole("button", { name: "Download the file" }).click(),
      ]);
      const saved = path.join(folder, "saved.mp4");
      await download.saveAs(saved);
      expect(await digestOfFile(saved)).toBe(expected);
      await came.getByRole("button", { name: "Delete it" }).click();
      await owner.getByRole("alertdialog").getByRole("button", { name: "Delete it" }).click();
      await expect(owner.getByRole("heading", { name: filmTitle })).toBeHidden(patience);
    });

    await test.step("the link answers to nobody any more", async () => {
      await provider.goto(links[1]);
      await expect(provider.getByRole("heading", { name: "This request takes no answer" })).toBeVisible(patience);
    });
  } finally {
    for (const context of profiles) await context.close();
    await rm(folder, { recursive: true, force: true });
  }
});
