import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";

import { chromium, type BrowserContext, type BrowserContextOptions, type Page } from "@playwright/test";

import { newAccount, signUp } from "../pages/account.ts";
import { answerDeviceQuestion, protect, revealSecret } from "../pages/secrets.ts";
import { choosePicture, pressButton, pressInOpened } from "../pages/picture-field.ts";
import { createStoryLaunchOptions } from "../support/browser.ts";
import { hashFile, writeLargeFile } from "../support/large-file.ts";
import { disableTours } from "../support/onboarding.ts";
import { PartGate } from "../support/part-gate.ts";
import { photographs } from "../support/photographs.ts";
import { expect, test } from "../support/portal-test.ts";
import { createSentinel } from "../support/sentinel.ts";
import { actOnceStarted } from "../support/starting-elements.ts";

const mebibytes = 64;
const waitOptions = { timeout: 120_000 };
const answerPattern = /\/requests\/answer\/./;

/** Returns its link. */
async function createRequest(page: Page, title: string, note: string): Promise<string> {
  await page.goto("/ask-for-secret");
  await page.getByLabel("What do you need?").fill(title);
  await page.getByLabel(/What is it for\?/).fill(note);
  await page.getByLabel("Your name").fill("Ana of the second floor");
  await page.getByRole("button", { name: "Create link" }).click();
  const panel = page.getByRole("group", { name: /Choose one of your pictures/ });
  await choosePicture(panel, photographs.small);
  await pressButton(panel, "Create link");
  const linkField = page.getByLabel("Link", { exact: true });
  await expect(linkField).toBeVisible(waitOptions);
  return (await linkField.textContent()) ?? "";
}

async function openAnswer(page: Page, title: string): Promise<void> {
  await page.goto("/asked-for");
  const card = page.getByRole("listitem").filter({ has: page.getByRole("heading", { name: title }) });
  await expect(card.getByText(/^Answered on /)).toBeVisible();
  await card.getByRole("button", { name: "Open the answer" }).click();
  await choosePicture(card, photographs.small);
  await card
    .getByRole("group", { name: /Choose one of your pictures/ })
    .getByRole("button", { name: "Open the answer" })
    .click();
  await expect(card.getByRole("group", { name: "Answer" })).toBeVisible(waitOptions);
}

/** Numbers of the words, which are the same in every language. */
async function readReceipt(page: Page, name: string): Promise<string[]> {
  const items = page.getByRole("list", { name }).getByRole("listitem");
  await expect(items).toHaveText(Array.from({ length: 8 }, () => /^[\p{L}]+ \d+$/u));
  return (await items.allTextContents()).map((text) => text.split(" ")[1] ?? "");
}

test("secret-request: a visitor without an account answers with a text, and with an interrupted file", async ({
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
      ...createStoryLaunchOptions(),
      baseURL: portal.origin,
      ...contextOptions,
      acceptDownloads: true,
    });
    actOnceStarted(context);
    profiles.push(context);
    const page = context.pages()[0] ?? (await context.newPage());
    await disableTours(page);
    return page;
  };
  const [title, note, answerText] = [
    `Title ${createSentinel()}`,
    `Note ${createSentinel()}`,
    `Answer ${createSentinel()}`,
  ];
  const filmTitle = `The film ${createSentinel()}`;
  for (const text of [title, note, answerText, filmTitle, path.basename(filmFile)]) planted.addText(text);

  try {
    const owner = await newProfile("owner");
    const links = await test.step("a user creates two requests, each with a link", async () => {
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
      await test.step("the sender sees who asks for what, and sends a text, on a phone, in Spanish and dark", async () => {
        const sentRequests: string[] = [];
        phone.on("request", (request) => sentRequests.push(`${request.url()} ${request.postData() ?? ""}`));
        await phone.goto(links[0]);
        await expect(phone.getByRole("heading", { level: 2, name: title })).toBeVisible(waitOptions);
        expect(phone.url()).not.toContain("#");
        await phone.getByLabel("Tu texto").fill(answerText);
        await phone.getByRole("button", { name: "Cifrar y enviar" }).click();
        await expect(phone.getByRole("heading", { name: "Enviado" })).toBeVisible(waitOptions);
        const key = links[0].split("#s=")[1] ?? "";
        for (const secret of [title, note, answerText, key])
          expect(sentRequests.filter((sentRequest) => sentRequest.includes(secret))).toEqual([]);
        return readReceipt(phone, "Palabras de seguridad de tu respuesta");
      });
    expect(receiptWords).toHaveLength(8);

    await test.step("the requester opens the text with a picture, sees the same numbers next to words of another language, and protects it", async () => {
      await openAnswer(owner, title);
      const answerGroup = owner.getByRole("group", { name: "Answer" });
      expect(await readReceipt(owner, "Safety words of this answer")).toEqual(receiptWords);
      expect(await revealSecret(answerGroup)).toBe(answerText);
      await answerGroup.getByRole("button", { name: "Protect as my secret" }).click();
      await expect(answerGroup.getByText("It is now one of your secrets", { exact: false })).toBeVisible(waitOptions);
      await answerGroup.getByRole("button", { name: "Mark as received" }).click();
      await expect(owner.getByText("Received", { exact: true })).toBeVisible(waitOptions);
      await owner.goto("/secrets");
      await expect(owner.getByText(title)).toBeVisible();
    });

    const senderPage = await newProfile("provider");
    const sentPartsBefore = await test.step("a file is sent, and its tab closed half way", async () => {
      const page = await senderPage.context().newPage();
      await disableTours(page);
      await page.goto(links[1]);
      await page.getByRole("radio", { name: "File" }).check(waitOptions);
      await page.getByLabel("File to send").setInputFiles(filmFile);
      const partGate = new PartGate();
      partGate.allowedPartCount = 4;
      await page.route(answerPattern, (route) => partGate.handle(route));
      let sentParts = 0;
      page.on("requestfinished", (request) => {
        if (request.method() === "POST" && answerPattern.test(request.url())) sentParts++;
      });
      await page.getByRole("button", { name: "Encrypt and send" }).click();
      await expect.poll(() => partGate.heldRoutes.length, waitOptions).toBeGreaterThan(0);
      await page.context().setOffline(true);
      await page.close({ runBeforeUnload: false });
      await senderPage.context().setOffline(false);
      return sentParts;
    });

    await test.step("the upload resumes where it stopped, with the link and the same file", async () => {
      const page = await senderPage.context().newPage();
      await disableTours(page);
      let sentParts = 0;
      page.on("requestfinished", (request) => {
        if (request.method() === "POST" && answerPattern.test(request.url())) sentParts++;
      });
      await page.goto(links[1]);
      await expect(page.getByText("You already started sending")).toBeVisible(waitOptions);
      await page.getByLabel("File to send").setInputFiles(filmFile);
      await page.getByRole("button", { name: "Continue" }).click();
      await expect(page.getByRole("heading", { name: "Sent" })).toBeVisible(waitOptions);
      expect(sentParts).toBeGreaterThan(0);
      expect(sentParts).toBeLessThanOrEqual(Math.ceil(mebibytes / 8) + 1 - sentPartsBefore);
    });

    await test.step("the film comes back byte for byte, and is deleted", async () => {
      await openAnswer(owner, filmTitle);
      const answerGroup = owner.getByRole("group", { name: "Answer" });
      const [download] = await Promise.all([
        owner.waitForEvent("download", waitOptions),
        pressInOpened(answerGroup, "Save the file"),
      ]);
      const savedPath = path.join(folder, "saved.mp4");
      await download.saveAs(savedPath);
      expect(await hashFile(savedPath)).toBe(expectedDigest);
      await answerGroup.getByRole("button", { name: "Delete", exact: true }).click();
      await owner.getByRole("alertdialog").getByRole("button", { name: "Delete" }).click();
      await expect(owner.getByRole("heading", { name: filmTitle })).toBeHidden(waitOptions);
    });

    await test.step("the link takes no more answers", async () => {
      await senderPage.goto(links[1]);
      await expect(senderPage.getByRole("heading", { name: "This request is closed" })).toBeVisible(waitOptions);
    });
  } finally {
    for (const context of profiles) await context.close();
    await rm(folder, { recursive: true, force: true });
  }
});
