import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";

import { chromium, type Page } from "@playwright/test";

import { newAccount, signIn, signOut, signUp } from "../pages/account.ts";
import { navigateInApp } from "../pages/navigation.ts";
import { answerDeviceQuestion, openRecovery, revealSecret, showPicture } from "../pages/secrets.ts";
import { renderSecondShot } from "../support/second-shot.ts";
import { chromiumArguments } from "../support/browser.ts";
import { cameraArguments, cameraFilm } from "../support/camera.ts";
import { messengerCopies, photographs } from "../support/photographs.ts";
import { expect, test } from "../support/portal-test.ts";

const phoneViewport = { width: 390, height: 844 };

test("backup-flow: a phone takes the picture, and copies of it bring the secret back elsewhere", async ({ portal }) => {
  test.setTimeout(900_000);
  const folder = await mkdtemp(path.join(tmpdir(), "relicario-camera-"));
  const launch = chromiumArguments();
  const cameraFile = await cameraFilm(photographs.mountains, folder);
  const phoneContext = await chromium.launchPersistentContext(path.join(folder, "profile"), {
    ...launch,
    args: [...(launch.args ?? []), ...cameraArguments(cameraFile)],
    baseURL: portal.origin,
    locale: "en-GB",
    viewport: phoneViewport,
    acceptDownloads: true,
  });
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

  await test.step("a picture is taken, and must be saved before it goes on", async () => {
    await page.getByRole("tab", { name: "Take picture" }).click();
    await page.getByRole("button", { name: "Take the picture" }).click({ timeout: 60_000 });
    await expect(page.getByText("This picture is good")).toBeVisible({ timeout: 90_000 });
    await page.getByRole("checkbox", { name: /Go without a passphrase/ }).check();
    await page.getByRole("button", { name: "Save a seed phrase or secret" }).click();
    await expect(page.getByText(/One that you took here is saved first/)).toBeVisible();
    const [download] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("button", { name: "Save the picture" }).click(),
    ]);
    await download.saveAs(pictureFile);
    await page.getByRole("button", { name: "Save a seed phrase or secret" }).click();
    await expect(page.getByText("Step 3 of 6")).toBeVisible();
  });

  await test.step("back and forth keeps what was chosen and typed", async () => {
    await page.getByLabel("Your secret").fill("legal winner thank year");
    await page.getByLabel("Title").fill("Wallet");
    await page.goBack();
    await expect(page.getByText("This picture is good")).toBeVisible();
    await page.goForward();
    await expect(page.getByLabel("Your secret")).toHaveValue("legal winner thank year");
  });

  await test.step("it is sealed, and leads by way of Safeguard to the end", async () => {
    await page.getByRole("checkbox", { name: /I have not protected anything in this account before/ }).check();
    await page.getByRole("button", { name: "Protect", exact: true }).click();
    await expect(page.getByText("Step 5 of 6")).toBeVisible({ timeout: 120_000 });
    await page.getByRole("link", { name: "I have kept my picture" }).click();
    await expect(page.getByText("Step 6 of 6")).toBeVisible();
    await answerDeviceQuestion(page, "My own device");
  });

  await test.step("the copy is rehearsed, and the secret stays closed", async () => {
    await page.getByRole("link", { name: "Try it now" }).click();
    await page.getByLabel("Picture file").setInputFiles(pictureFile);
    await page.getByRole("button", { name: "Try it", exact: true }).click();
    await expect(page.getByRole("heading", { level: 1, name: "Your copy works!" })).toBeVisible({ timeout: 120_000 });
    await expect(page.getByText("legal winner")).toBeHidden();
  });

  await test.step("a page that is loaded again keeps nothing that was typed, and says so", async () => {
    await page.goto("/provide-image");
    await page.getByLabel("Picture file").setInputFiles(pictureFile);
    await expect(page.getByText("You use this image already")).toBeVisible({ timeout: 90_000 });
    await page.getByRole("button", { name: "Save a seed phrase or secret" }).click();
    await page.getByLabel("Your secret").fill("zoo zebra zone");
    await page.reload();
    await expect(page.getByText("This page was loaded again")).toBeVisible({ timeout: 60_000 });
    expect(
      await page.evaluate(() => JSON.stringify([Object.entries(sessionStorage), Object.entries(localStorage)])),
    ).not.toContain("zebra");
  });

  await test.step("another shot of the scene is refused in sight, and the next picture may be the right one", async () => {
    await openRecovery(page, "Wallet");
    await showPicture(page, await renderSecondShot(pictureFile));
    const notice = page.getByRole("alert").filter({ hasText: "This picture does not open it" });
    await expect(notice).toBeVisible({ timeout: 120_000 });
    await expectInViewport(page, "This picture does not open it");
    await expectInViewport(page, "These do not: another shot of the same scene");
    await showPicture(page, pictureFile);
    expect(await revealSecret(page)).toBe("legal winner thank year");
    await signOutOnPhone(page);
  });

  const browser = await chromium.launch(launch);
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
 * Wholly on the screen without scrolling, and under no bar: each line of it is what is hit at its
 * two ends.
 */
async function expectInViewport(page: Page, text: string): Promise<void> {
  const visibility = await page.getByText(text).evaluate((element) => {
    const range = document.createRange();
    range.selectNodeContents(element);
    return [...range.getClientRects()].flatMap(({ left, right, top, bottom }) =>
      [left + 1, right - 1].map((x) => {
        const hit = document.elementFromPoint(x, (top + bottom) / 2);
        return hit !== null && (element.contains(hit) || hit.contains(element));
      }),
    );
  });
  expect(visibility).not.toEqual([]);
  expect(visibility).not.toContain(false);
}

async function signOutOnPhone(page: Page): Promise<void> {
  await navigateInApp(page, "/home");
  await signOut(page);
}
