import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";

import { chromium, type Locator, type Page } from "@playwright/test";

import { newAccount, signIn, signUp, type Account } from "../pages/account.ts";
import { openCamera } from "../pages/camera-window.ts";
import { readItems } from "../pages/list.ts";
import { navigateInApp } from "../pages/navigation.ts";
import { answerDeviceQuestion, openRecovery, protect, revealSecret, row } from "../pages/secrets.ts";
import { changeInput, choosePicture, pictureField, pressButton, vaultElement } from "../pages/picture-field.ts";
import { createStoryLaunchOptions } from "../support/browser.ts";
import { buildCameraArguments, writeCameraFilm } from "../support/camera.ts";
import { addVirtualPasskeys } from "../support/passkeys.ts";
import { photographs } from "../support/photographs.ts";
import { expect, test } from "../support/portal-test.ts";
import { createSentinel } from "../support/sentinel.ts";
import { actOnceStarted } from "../support/starting-elements.ts";

const phoneSize = { width: 390, height: 844 };

async function openDeviceLinkPage(page: Page, account: Account): Promise<void> {
  await signIn(page, account, { path: "/secrets" });
  await page.getByRole("link", { name: "Unlock with your picture" }).click();
  await page.getByRole("link", { name: "Use another device" }).click();
  await expect(page.getByRole("region", { name: "First, a passkey for this device" })).toBeVisible();
}

/** Makes the camera see this element from now on, as on another screen. */
async function recordElementForCamera(element: Locator, folder: string): Promise<void> {
  const screenshotFile = path.join(folder, "screen.jpg");
  await element.screenshot({ path: screenshotFile, type: "jpeg", quality: 95 });
  await writeCameraFilm(screenshotFile, folder, "contain");
}

test("another-device: a new laptop joins by the phone, and opens the list and every secret", async ({
  browser,
  portal,
}) => {
  const folder = await mkdtemp(path.join(tmpdir(), "relicario-screen-"));
  const launchOptions = createStoryLaunchOptions();
  const cameraFile = await writeCameraFilm(photographs.mountains, folder);
  const phoneContext = await chromium.launchPersistentContext(path.join(folder, "profile"), {
    ...launchOptions,
    args: [...(launchOptions.args ?? []), ...buildCameraArguments(cameraFile)],
    baseURL: portal.origin,
    locale: "en-GB",
    viewport: phoneSize,
  });
  actOnceStarted(phoneContext);
  const phone = phoneContext.pages()[0] ?? (await phoneContext.newPage());
  const laptopContext = await browser.newContext({ baseURL: portal.origin, locale: "en-GB" });
  const laptop = await laptopContext.newPage();
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
    await openDeviceLinkPage(laptop, account);
    await laptop.getByRole("textbox", { name: "Name of this device" }).fill("New laptop");
    await vaultElement(laptop, "new_passkey").getByRole("button", { name: "Make the passkey" }).click();
    await laptop.getByRole("button", { name: "Show the code" }).click();
    await expect(laptop.getByText("Waiting for the other device")).toBeVisible({ timeout: 60_000 });
    await readItems(laptop.getByRole("list", { name: "The 12 words" }), 12);
    expect(await passkeys.count()).toBe(1);
  });

  await test.step("the phone warns, scans the code, and shows who asks", async () => {
    await navigateInApp(phone, "/openers");
    await phone.getByRole("link", { name: "Another device" }).click();
    await expect(
      phone.getByRole("heading", { name: "The person who shows the code will be able to open everything" }),
    ).toBeVisible();
    await phone.getByRole("button", { name: "The device is in my hands" }).click();
    await recordElementForCamera(laptop.getByRole("img", { name: "The 12 words as a QR code" }), folder);
    await openCamera(phone, vaultElement(phone, "device_code_scan"), "Scan its QR code");
    const items = await readItems(laptop.getByRole("list", { name: "The 12 words" }), 12);
    const words = items.map((item) => item.split(" ")[0]);
    await expect(phone.getByRole("textbox", { name: "The 12 words" })).toHaveValue(words.join(" "), {
      timeout: 60_000,
    });
    await phone.getByRole("button", { name: "Continue" }).click();
    await expect(phone.getByRole("region", { name: "“New laptop” wants to open your secrets" })).toBeVisible();
    await expect(phone.getByText("It will open 2 secrets, and everything you protect later.")).toBeVisible();
  });

  await test.step("the phone shows its picture, and admits the laptop", async () => {
    await choosePicture(phone, photographs.small);
    await pressButton(phone, "Let the device in");
    await expect(phone.getByText("“New laptop” now opens 2 secrets.")).toBeVisible({
      timeout: 90_000,
    });
  });

  await test.step("the laptop unlocks: its passkey opens the list and every secret", async () => {
    await answerDeviceQuestion(laptop, "My own device");
    for (const { title } of secrets) await expect(row(laptop, title)).toBeVisible({ timeout: 60_000 });
    for (const { title, text } of secrets) {
      await openRecovery(laptop, title);
      await pictureField(laptop).getByRole("button", { name: "Use a passkey" }).click();
      await changeInput(laptop, () => pictureField(laptop).getByRole("button", { name: "Use the passkey" }).click());
      await expect(pictureField(laptop).getByText("The passkey is ready.")).toBeVisible();
      await pressButton(laptop, "Open");
      expect(await revealSecret(laptop)).toBe(text);
    }
  });

  await test.step("the phone makes a recovery code, whose printed QR code its camera reads", async () => {
    await navigateInApp(phone, "/openers");
    await expect(phone.getByText(/^Passkey, added/)).toBeVisible({ timeout: 60_000 });
    await phone.getByRole("button", { name: "Make a recovery code" }).click();
    const element = vaultElement(phone, "new_recovery_code");
    await expect(element.getByRole("list", { name: "The 24 words" })).toBeVisible();
    await element.locator("body").evaluate(() => {
      window.print = () => undefined;
    });
    await element.getByRole("button", { name: "Print" }).click();
    await phone.emulateMedia({ media: "print" });
    // a print has the whole sheet, a screenshot only what its frame shows
    await phone.locator("iframe[data-vault-element]").evaluate((frame) => {
      frame.style.height = "2000px";
    });
    await recordElementForCamera(element.locator("[data-print] svg"), folder); // paper has no roles
    await phone.emulateMedia({ media: null });
    await navigateInApp(phone, "/provide-image-recovery");
    await pictureField(phone).getByRole("button", { name: "Use a recovery code" }).click();
    await openCamera(phone, pictureField(phone), "Scan its QR code");
    await expect(pictureField(phone).getByRole("textbox", { name: "Recovery code" })).toHaveValue(
      /^AGE-SECRET-KEY-PQ-1[0-9A-Z]{58}$/,
      { timeout: 60_000 },
    );
  });

  await laptopContext.close();
  await phoneContext.close();
  await rm(folder, { recursive: true, force: true });
});
