import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";

import sharp from "sharp";

import { newAccount, signUp } from "../pages/account.ts";
import { makeKit } from "../pages/kit.ts";
import {
  fillKitForm,
  gotoKit,
  kitBrowsers,
  launchKitBrowser,
  readBodyText,
  submitKitForm,
  type KitTab,
} from "../pages/kit-tab.ts";
import { answerDeviceQuestion, protect } from "../pages/secrets.ts";
import { photographs } from "../support/photographs.ts";
import { expect, test } from "../support/portal-test.ts";
import { createSentinel } from "../support/sentinel.ts";

const photo = sharp(photographs.small);
const encoders: Readonly<Record<string, () => Promise<Buffer>>> = {
  "copy.jpg": () => photo.clone().jpeg({ quality: 80 }).toBuffer(),
  "progressive.jpg": () => photo.clone().jpeg({ quality: 80, progressive: true }).toBuffer(),
  "cut.jpg": async () => (await readFile(photographs.small)).subarray(0, -2),
  "copy.png": () => photo.clone().png({ compressionLevel: 2 }).toBuffer(),
  "copy.webp": () => photo.clone().webp({ quality: 80 }).toBuffer(),
  "lossless.webp": () => photo.clone().webp({ lossless: true, effort: 1 }).toBuffer(),
  "copy.avif": () => photo.clone().avif({ quality: 60, effort: 2 }).toBuffer(),
  "copy.heic": () => readFile(photographs.smallHeic),
};
/** A kit reads AVIF or HEIC when it was made with such a picture. */
const kitPictures = { jpeg: "copy.jpg", avif: "copy.avif", heic: "copy.heic" } as const;

test("kit: every format of picture opens it from the disk, in Chromium and in Firefox", async ({ page }) => {
  test.setTimeout(900_000);
  const title = `Wallet ${createSentinel()}`;
  const passphrase = `four words and ${createSentinel()}`;
  const folder = await mkdtemp(path.join(tmpdir(), "relicario-kit-"));
  const getKitFile = (kind: string) => path.join(folder, kind, "kit.html");
  const getOpener = (picture: string) => ({ picturePath: path.join(folder, picture), passphrase });
  const readTitles = (tab: KitTab) =>
    tab.evaluate(() => [...document.querySelectorAll("article h3")].map((heading) => heading.textContent));

  await test.step("a person makes a kit with a JPEG, one with an AVIF and one with a HEIC", async () => {
    for (const [name, encode] of Object.entries(encoders)) await writeFile(path.join(folder, name), await encode());
    await signUp(page, newAccount());
    const image = { file: photographs.small, passphrase };
    await protect(page, { text: createSentinel(), title, tags: [], image });
    await answerDeviceQuestion(page, "My own device");
    for (const [kind, picture] of Object.entries(kitPictures)) {
      await mkdir(path.join(folder, kind));
      await makeKit(page, path.join(folder, kind), path.join(folder, picture), passphrase);
    }
  });

  for (const name of kitBrowsers) {
    const browser = await launchKitBrowser(name);
    try {
      for (const picture of Object.keys(encoders)) {
        await test.step(`in ${name} it opens with ${picture}`, async () => {
          const tab = await browser.newPage();
          const extension = path.extname(picture).slice(1);
          await gotoKit(tab, getKitFile(extension in kitPictures ? extension : "jpeg"));
          await fillKitForm(tab, getOpener(picture));
          await submitKitForm(tab);
          expect(await readTitles(tab)).toEqual([title]);
          await tab.close();
        });
      }

      await test.step(`in ${name} it refuses a format that it does not read`, async () => {
        const tab = await browser.newPage();
        await gotoKit(tab, getKitFile("jpeg"));
        await fillKitForm(tab, getOpener("copy.avif"));
        await submitKitForm(tab);
        expect(await readBodyText(tab)).toContain("can't be read as a picture");
        await tab.close();
      });

      await test.step(`in ${name} Cancel ends opening, and the next try opens it`, async () => {
        const tab = await browser.newPage();
        await gotoKit(tab, getKitFile("jpeg"));
        await fillKitForm(tab, getOpener("copy.webp"));
        const readState = await tab.evaluate(() => {
          const submitButton = document.querySelector<HTMLButtonElement>("button[type=submit]");
          const isBusy = () => submitButton?.disabled === true;
          submitButton?.click();
          const wasBusy = isBusy();
          submitButton?.parentElement?.querySelector<HTMLButtonElement>("button.quiet")?.click();
          return new Promise<unknown>((resolve) => {
            setTimeout(() => {
              resolve({ wasBusy, isBusy: isBusy(), alert: document.querySelector("[role=alert]")?.textContent });
            }, 0);
          });
        });
        expect(readState).toEqual({ wasBusy: true, isBusy: false, alert: "" });
        await submitKitForm(tab);
        expect(await readTitles(tab)).toEqual([title]);
        await tab.close();
      });
    } finally {
      await browser.close();
    }
  }
  await rm(folder, { recursive: true, force: true });
});
