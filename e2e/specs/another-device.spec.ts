import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";

import { chromium, type Locator, type Page } from "@playwright/test";

import { newAccount, signIn, signUp, type Account } from "../pages/account.ts";
import { navigateInApp } from "../pages/navigation.ts";
import { answerDeviceQuestion, openRecovery, protect, revealSecret, row } from "../pages/secrets.ts";
import { chromiumArguments } from "../support/browser.ts";
import { cameraArguments, cameraFilm } from "../support/camera.ts";
import { addVirtualPasskeys } from "../support/passkeys.ts";
import { photographs } from "../support/photographs.ts";
import { expect, test } from "../support/portal-test.ts";
import { createSentinel } from "../support/sentinel.ts";

const phoneSize = { width: 390, height: 844 };

/** Leads a locked new device to the page where it shows its code. */
async function openNewDevice(page: Page, account: Account): Promise<void> {
  await signIn(page, account, { path: "/secrets" });
  await page.getByRole("link", { name: "Unlock with your picture" }).click();
  await page.getByRole("link", { name: "Use a device I have at hand" }).click();
  await expect(page.getByRole("region", { name: "First a passkey for this device" })).toBeVisible();
}

/** What the camera sees from now on: this element, as another screen shows it. */
async function filmElement(element: Locator, folder: string): Promise<void> {
  const picture = path.join(folder, "screen.jpg");
  await element.screenshot({ path: picture, type: "jpeg", quality: 95 });
  await cameraFilm(picture, folder, "contain");
}

test("another-device: a new laptop beside the old phone gets the list back, and what is in every secret", async ({
  browser,
  portal,
}) => {
  test.setTimeout(600_000);
  const folder = await mkdtemp(path.join(tmpdir(), "relicario-screen-"));
  const launch = chromiumArguments();
  const camera = await cameraFilm(photographs.mountains, folder);
  const oldPhone = await chromium.launchPersistentContext(path.join(folder, "profile"), {
    ...launch,
    args: [...(launch.args ?? []), ...cameraArguments(camera)],
    baseURL: portal.origin,
    locale: "en-GB",
    viewport: phoneSize,
  });
  const phone = oldPhone.pages()[0] ?? (await oldPhone.newPage());
  const newLaptop = await browser.newContext({ baseURL: portal.origin, locale: "en-GB" });
  const laptop = await newLaptop.newPage();
  const passkeys = await addVirtualPasskeys(laptop);
  const account = newAccount();
  const secrets = [
    { title: `First ${createSentinel()}`, text: `one ${createSentinel()}` },
    { title: `Second ${createSentinel()}`, text: `two ${createSentinel()}` },
  ] as const;

  await test.step("the phone protects two secrets with a picture", async () => {
    await signUp(phone, account);
    await protect(phone, { ...secrets[0], tags: [], image: { file: photographs.small, passphrase: null } });
    await answerDeviceQuestion(phone, "My own device");
    await protect(phone, { ...secrets[1], tags: [], image: null });
  });

  await test.step("the laptop, signed in and locked, makes a passkey and shows its code", async () => {
    await openNewDevice(laptop, account);
    await laptop.getByRole("textbox", { name: "Name of this device" }).fill("New laptop");
    await laptop.getByRole("button", { name: "Make a passkey and show the code" }).click();
    await expect(laptop.getByText("Waiting for the other device")).toBeVisible({ timeout: 60_000 });
    await expect(laptop.getByRole("list", { name: "The 12 words" }).getByRole("listitem")).toHaveCount(12);
    expect(await passkeys.count()).toBe(1);
  });

  await test.step("the phone is warned, scans the code, and is told who asks", async () => {
    await navigateInApp(phone, "/openers");
    await phone.getByRole("link", { name: "Another device" }).click();
    await expect(
      phone.getByRole("heading", { name: "The person who shows the code will be able to open everything" }),
    ).toBeVisible();
    await phone.getByRole("button", { name: "The device is in my hands" }).click();
    await filmElement(laptop.getByRole("img", { name: "The 12 words as a QR code" }), folder);
    await phone.getByRole("button", { name: "Scan its QR code" }).click();
    const words = await laptop.getByRole("list", { name: "The 12 words" }).getByRole("listitem").allTextContents();
    await expect(phone.getByRole("textbox", { name: "The 12 words" })).toHaveValue(words.join(" "), {
      timeout: 60_000,
    });
    await phone.getByRole("button", { name: "Look who asks" }).click();
    await expect(phone.getByRole("region", { name: "“New laptop” asks to open your secrets" })).toBeVisible();
    await expect(phone.getByText("It will open 2 secrets, and whatever you protect later.")).toBeVisible();
  });

  await test.step("it shows its picture, and lets the laptop in", async () => {
    await phone.getByLabel("Picture file").setInputFiles(photographs.small);
    await phone.getByRole("button", { name: "Show it and let the device in" }).click();
    await expect(phone.getByText("“New laptop” opens your account now. 2 secrets were sealed to it.")).toBeVisible({
      timeout: 90_000,
    });
  });

  await test.step("the laptop unlocks by itself: the list, and what is in every secret, by its passkey", async () => {
    await answerDeviceQuestion(laptop, "My own device");
    for (const { title } of secrets) await expect(row(laptop, title)).toBeVisible({ timeout: 60_000 });
    for (const { title, text } of secrets) {
      await openRecovery(laptop, title);
      await laptop.getByRole("button", { name: "Use a passkey" }).click();
      await laptop.getByRole("button", { name: "Ask for the passkey" }).click();
      await expect(laptop.getByText("The passkey is ready.")).toBeVisible();
      await laptop.getByRole("button", { name: "Recover", exact: true }).click();
      expect(await revealSecret(laptop)).toBe(text);
    }
  });

  await test.step("the phone makes a recovery code, whose printed QR code its camera reads", async () => {
    await navigateInApp(phone, "/openers");
    await expect(phone.getByText(/^Passkey, added/)).toBeVisible({ timeout: 60_000 });
    await phone.getByRole("button", { name: "Make a recovery code" }).click();
    await expect(phone.getByRole("list", { name: "The 24 words" })).toBeVisible();
    await phone.evaluate(() => {
      window.print = () => undefined;
    });
    await phone.getByRole("button", { name: "Print" }).click();
    await phone.emulateMedia({ media: "print" });
    await filmElement(phone.locator("[data-print] svg"), folder); // paper has no roles
    await phone.emulateMedia({ media: null });
    await navigateInApp(phone, "/provide-image-recovery");
    await phone.getByRole("button", { name: "Use a recovery code" }).click();
    await phone.getByRole("button", { name: "Scan its QR code" }).click();
    await expect(phone.getByRole("textbox", { name: "Recovery code" })).toHaveValue(
      /^AGE-SECRET-KEY-PQ-1[0-9A-Z]{58}$/,
      { timeout: 60_000 },
    );
  });

  await newLaptop.close();
  await oldPhone.close();
  await rm(folder, { recursive: true, force: true });
});
