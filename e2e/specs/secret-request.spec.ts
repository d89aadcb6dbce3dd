import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";

import { chromium, type BrowserContext, type BrowserContextOptions, type Page } from "@playwright/test";

import { newAccount, signUp } from "../pages/account.ts";
import { answerDeviceQuestion, protect } from "../pages/secrets.ts";
import { chromiumArguments } from "../support/browser.ts";
import { hashFile, writeLargeFile } from "../support/large-file.ts";
import { disableTours } from "../support/onboarding.ts";
import { photographs } from "../support/photographs.ts";
import { expect, test } from "../support/portal-test.ts";
import { createSentinel } from "../support/sentinel.ts";

const mebibytes = 64;
const waitOptions = { timeout: 120_000 };

/** Asks for something, on a page that has shown a picture since load; gives the link. */
async function createRequest(page: Page, title: string, note: string): Promise<string> {
  await page.goto("/ask-for-secret");
  await page.getByLabel("What do you need?").fill(title);
  await page.getByLabel(/What for\?/).fill(note);
  await page.getByLabel("Who asks?").fill("Ana of the second floor");
  await page.getByRole("button", { name: "Make the link" }).click();
  const panel = page.getByRole("group", { name: /Show one of your pictures/ });
  await panel.getByLabel("Picture file").setInputFiles(photographs.small);
  await panel.getByRole("button", { name: "Make the link" }).click();
  const link = page.getByLabel("The link", { exact: true });
  await expect(link).toBeVisible(waitOptions);
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
  await expect(card.getByRole("group", { name: "What came" })).toBeVisible(waitOptions);
}

const readReceipt = (page: Page, name: string): Promise<string[]> =>
  page.getByRole("list", { name }).getByRole("listitem").allTextContents();

test("secret-request: somebody without an account answers by a text, and by a file that was interrupted", async ({
  portal,
  planted,
}) => {
  test.setTimeout(900_000);
  const folder = await mkdtemp(path.join(tmpdir(), "relicario-request-"));
  const filmFile = path.join(folder, `film-${createSentinel()}.mp4`);
  const expectedDigest = await writeLargeFile(filmFile, mebibytes);
  const profiles: BrowserContext[] = [];
  const newProfile = async (
    name: string,
    contextOptions: Pick<BrowserContextOptions, "locale" | "viewport" | "colorScheme" | "hasTouch"> = {
      locale: "en-GB",
    },
  ): Promise<Page> => {
    const context = await chromium.launchPersistentContext(path.join(folder, name), {
      ...chromiumArguments(),
      baseURL: portal.origin,
      ...contextOptions,
      acceptDownloads: true,
    });
    profiles.push(context);
    const page = context.pages()[0] ?? (await context.newPage());
    await disableTours(page);
    await page.addInitScript(() => {
      Reflect.deleteProperty(globalThis, "showSaveFilePicker"); // nobody can answer the system's own dialog here
    });
    return page;
  };
  const [title, note, answer] = [`Title ${createSentinel()}`, `Note ${createSentinel()}`, `Answer ${createSentinel()}`];
  const filmTitle = `The film ${createSentinel()}`;
  for (const text of [title, note, answer, filmTitle, path.basename(filmFile)]) planted.addText(text);

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
      await answerDeviceQuestion(owner, "My own device");
      return [await createRequest(owner, title, note), await createRequest(owner, filmTitle, "")] as const;
    });
    for (const link of links) planted.addLink(link);
    expect(links[0]).toMatch(/\/request\/[\w-]{22}#s=[\w-]{43}$/);

    const phone = await newProfile("phone", {
      locale: "es-ES",
      viewport: { width: 390, height: 844 },
      colorScheme: "dark",
      hasTouch: true,
    });
    const receiptWords =
      await test.step("somebody else sees who asks for what, and sends a text, on a phone, in Spanish and dark", async () => {
        const sentRequests: string[] = [];
        phone.on("request", (request) => sentRequests.push(`${request.url()} ${request.postData() ?? ""}`));
        await phone.goto(links[0]);
        await expect(phone.getByRole("heading", { level: 2, name: title })).toBeVisible(waitOptions);
        expect(phone.url()).not.toContain("#");
        await phone.getByLabel("Tu texto").fill(answer);
        await phone.getByRole("button", { name: "Sellar y enviar" }).click();
        await expect(phone.getByRole("heading", { name: "Enviado" })).toBeVisible(waitOptions);
        const key = links[0].split("#s=")[1] ?? "";
        for (const secret of [title, note, answer, key])
          expect(sentRequests.filter((sentRequest) => sentRequest.includes(secret))).toEqual([]);
        return readReceipt(phone, "Palabras de tu recibo");
      });
    expect(receiptWords).toHaveLength(8);

    await test.step("whoever asked opens it with a picture, sees the same words, and keeps it", async () => {
      await openAnswer(owner, title);
      const received = owner.getByRole("group", { name: "What came" });
      expect(await readReceipt(owner, "Words of the receipt")).toEqual(receiptWords);
      await received.getByRole("button", { name: "Show", exact: true }).click();
      await expect(received.getByText(answer)).toBeVisible();
      await received.getByRole("button", { name: "Keep it among my secrets" }).click();
      await expect(received.getByText("It is among your secrets now", { exact: false })).toBeVisible(waitOptions);
      await received.getByRole("button", { name: "I have it" }).click();
      await expect(owner.getByText("Collected", { exact: true })).toBeVisible(waitOptions);
      await owner.goto("/secrets");
      await expect(owner.getByText(title)).toBeVisible();
    });

    const provider = await newProfile("provider");
    const sentBefore = await test.step("a file is sent, and its tab closed half way", async () => {
      const page = await provider.context().newPage();
      await disableTours(page);
      await page.goto(links[1]);
      await page.getByRole("radio", { name: "File" }).check(waitOptions);
      await page.getByLabel("File to send").setInputFiles(filmFile);
      let sentParts = 0;
      const halfSent = new Promise<void>((resolve) => {
        page.on("requestfinished", (request) => {
          if (request.method() === "POST" && /\/requests\/answer\/./.test(request.url()) && ++sentParts === 4)
            resolve();
        });
      });
      await page.getByRole("button", { name: "Seal and send" }).click();
      await halfSent;
      await page.context().setOffline(true);
      await page.close({ runBeforeUnload: false });
      await provider.context().setOffline(false);
      return sentParts;
    });

    await test.step("the link once more, and the same file: it goes on where it stopped", async () => {
      const page = await provider.context().newPage();
      await disableTours(page);
      let sentParts = 0;
      page.on("requestfinished", (request) => {
        if (request.method() === "POST" && /\/requests\/answer\/./.test(request.url())) sentParts++;
      });
      await page.goto(links[1]);
      await expect(page.getByText("You began to send something")).toBeVisible(waitOptions);
      await page.getByLabel("File to send").setInputFiles(filmFile);
      await page.getByRole("button", { name: "Continue sending" }).click();
      await expect(page.getByRole("heading", { name: "It was sent" })).toBeVisible(waitOptions);
      expect(sentParts).toBeGreaterThan(0);
      expect(sentParts).toBeLessThanOrEqual(Math.ceil(mebibytes / 8) + 1 - sentBefore);
    });

    await test.step("the film comes back byte for byte, and is deleted", async () => {
      await openAnswer(owner, filmTitle);
      const received = owner.getByRole("group", { name: "What came" });
      const [download] = await Promise.all([
        owner.waitForEvent("download", waitOptions),
        received.getByRole("button", { name: "Download the file" }).click(),
      ]);
      const saved = path.join(folder, "saved.mp4");
      await download.saveAs(saved);
      expect(await hashFile(saved)).toBe(expectedDigest);
      await received.getByRole("button", { name: "Delete it" }).click();
      await owner.getByRole("alertdialog").getByRole("button", { name: "Delete it" }).click();
      await expect(owner.getByRole("heading", { name: filmTitle })).toBeHidden(waitOptions);
    });

    await test.step("the link answers to nobody any more", async () => {
      await provider.goto(links[1]);
      await expect(provider.getByRole("heading", { name: "This request takes no answer" })).toBeVisible(waitOptions);
    });
  } finally {
    for (const context of profiles) await context.close();
    await rm(folder, { recursive: true, force: true });
  }
});
