import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";

import { chromium, type Page } from "@playwright/test";

import { newAccount, signIn, signOut, signUp } from "../pages/account.ts";
import { takePicture } from "../pages/camera-window.ts";
import { navigateInApp } from "../pages/navigation.ts";
import { answerDeviceQuestion, openRecovery, revealSecret, showPicture } from "../pages/secrets.ts";
import { changeInput, choosePicture, pictureField, pressButton } from "../pages/picture-field.ts";
import { renderSecondShot } from "../support/second-shot.ts";
import { createStoryLaunchOptions } from "../support/browser.ts";
import { buildCameraArguments, writeCameraFilm } from "../support/camera.ts";
import { messengerCopies, photographs } from "../support/photographs.ts";
import { expect, test } from "../support/portal-test.ts";
import { actOnceStarted } from "../support/starting-elements.ts";

const phoneViewport = { width: 390, height: 844 };

test("backup-flow: a phone takes the picture, and copies of it recover the secret elsewhere", async ({ portal }) => {
  test.setTimeout(900_000);
  const folder = await mkdtemp(path.join(tmpdir(), "relicario-camera-"));
  const launchOptions = createStoryLaunchOptions();
  const cameraFile = await writeCameraFilm(photographs.mountains, folder);
  const phoneContext = await chromium.launchPersistentContext(path.join(folder, "profile"), {
    ...launchOptions,
    args: [...(launchOptions.args ?? []), ...buildCameraArguments(cameraFile)],
    baseURL: portal.origin,
    locale: "en-GB",
    viewport: phoneViewport,
    acceptDownloads: true,
  });
  actOnceStarted(phoneContext);
  const page = phoneContext.pages()[0] ?? (await phoneContext.newPage());
  const account = newAccount();
  const pictureFile = path.join(folder, "taken.jpg");

  await test.step("Home leads to the flow, which goes step by step", async () => {
    await signUp(page, account);
    await page.getByRole("main").getByRole("link", { name: "Protect a secret" }).click();
    await expect(page.getByText("Step 1 of 6")).toBeVisible({ timeout: 60_000 });
    await page.getByRole("link", { name: "Start" }).click();
    await expect(page.getByText("Step 2 of 6")).toBeVisible();
  });

  await test.step("a picture is taken, and must be saved before the flow continues", async () => {
    await takePicture(page);
    await expect(pictureField(page).getByText("This picture has enough detail")).toBeVisible({ timeout: 90_000 });
    await changeInput(page, () =>
      pictureField(page)
        .getByRole("checkbox", { name: /Continue without a passphrase/ })
        .check(),
    );
    await page.getByRole("button", { name: "Continue" }).click();
    await expect(page.getByText("Save the picture first.")).toBeVisible();
    const [download] = await Promise.all([
      page.waitForEvent("download"),
      pictureField(page).getByRole("button", { name: "Save the picture" }).click(),
    ]);
    await download.saveAs(pictureFile);
    await page.getByRole("button", { name: "Continue" }).click();
    await expect(page.getByText("Step 3 of 6")).toBeVisible();
  });

  await test.step("back and forth keeps what was chosen and typed", async () => {
    await page.getByLabel("Your secret").fill("legal winner thank year");
    await page.getByLabel("Title").fill("Wallet");
    await page.goBack();
    await expect(pictureField(page).getByText("This picture has enough detail")).toBeVisible();
    await page.goForward();
    await expect(page.getByLabel("Your secret")).toHaveValue("legal winner thank year");
  });

  await test.step("the secret is sealed, and the flow leads through Safeguard to the end", async () => {
    await page.getByRole("checkbox", { name: /I have never protected anything in this account/ }).check();
    await page.getByRole("button", { name: "Protect", exact: true }).click();
    await expect(page.getByText("Step 5 of 6")).toBeVisible({ timeout: 120_000 });
    await page.getByRole("link", { name: "I have saved copies of my picture" }).click();
    await expect(page.getByText("Step 6 of 6")).toBeVisible();
    await answerDeviceQuestion(page, "My own device");
  });

  await test.step("the copy is checked, and the secret stays closed", async () => {
    await page.getByRole("link", { name: "Check it now" }).click();
    await choosePicture(page, pictureFile);
    await pressButton(page, "Check this copy");
    await expect(page.getByRole("heading", { level: 1, name: "Your copy works!" })).toBeVisible({ timeout: 120_000 });
    await expect(page.getByText("legal winner")).toBeHidden();
  });

  await test.step("a page that is loaded again keeps nothing that was typed, and says so", async () => {
    await page.goto("/provide-image");
    await choosePicture(page, pictureFile);
    await expect(pictureField(page).getByText("You already use this picture")).toBeVisible({ timeout: 90_000 });
    await pressButton(page, "Continue");
    await page.getByLabel("Your secret").fill("zoo zebra zone");
    await page.reload();
    await expect(page.getByText("This page was reloaded")).toBeVisible({ timeout: 60_000 });
    expect(
      await page.evaluate(() => JSON.stringify([Object.entries(sessionStorage), Object.entries(localStorage)])),
    ).not.toContain("zebra");
  });

  await test.step("another shot of the scene is refused visibly, and the right picture opens it next", async () => {
    await openRecovery(page, "Wallet");
    await showPicture(page, await renderSecondShot(pictureFile));
    const notice = page.getByRole("alert").filter({ hasText: "This picture does not open it" });
    await expect(notice).toBeVisible({ timeout: 120_000 });
    await expectInViewport(page, "This picture does not open it");
    await expectInViewport(page, "These do not: another photo of the same scene");
    await showPicture(page, pictureFile);
    expect(await revealSecret(page)).toBe("legal winner thank year");
    await signOutOnPhone(page);
  });

  const browser = await chromium.launch(launchOptions);
  const otherPage = await browser.newPage({
    baseURL: portal.origin,
    locale: "en-GB",
    viewport: { width: 1280, height: 900 },
  });
  await test.step("in another profile", async () => {
    await signIn(otherPage, account, { path: "/provide-image-recovery?then=/secrets" });
    await showPicture(otherPage, pictureFile);
    await answerDeviceQuestion(otherPage, "My own device");
  });
  for (const [name, makeCopy] of Object.entries(messengerCopies)) {
    await test.step(`a copy opens it: ${name}`, async () => {
      await openRecovery(otherPage, "Wallet");
      await showPicture(otherPage, await makeCopy(pictureFile));
      expect(await revealSecret(otherPage)).toBe("legal winner thank year");
    });
  }
  await signOut(otherPage);
  await browser.close();
  await phoneContext.close();
  await rm(folder, { recursive: true, force: true });
});

/**
 * Expects a text to be fully visible without scrolling, and under no bar: each line is hit at both
 * its ends.
 */
async function expectInViewport(page: Page, text: string): Promise<void> {
  const isInView = (): Promise<boolean> =>
    page.getByText(text).evaluate((element) => {
      const range = document.createRange();
      range.selectNodeContents(element);
      const hits = [...range.getClientRects()].flatMap(({ left, right, top, bottom }) =>
        [left + 1, right - 1].map((x) => document.elementFromPoint(x, (top + bottom) / 2)),
      );
      return hits.length > 0 && hits.every((hit) => hit !== null && (element.contains(hit) || hit.contains(element)));
    });
  await expect.poll(isInView, `"${text}" in view`).toBe(true);
}

async function signOutOnPhone(page: Page): Promise<void> {
  await navigateInApp(page, "/home");
  await signOut(page);
}
