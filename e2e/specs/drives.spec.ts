import { readFile } from "node:fs/promises";

import { AxeBuilder } from "@axe-core/playwright";
import type { Page } from "@playwright/test";

import { newAccount, signUp } from "../pages/account.ts";
import { navigateInApp } from "../pages/navigation.ts";
import { answerDeviceQuestion, protect } from "../pages/secrets.ts";
import { choosePicture, fillInField, pictureField, pressButton } from "../pages/picture-field.ts";
import { startGoogleDrive, type GoogleDriveServer } from "../support/google-drive.ts";
import { startOneDrive, type OneDriveServer } from "../support/onedrive.ts";
import { photographs } from "../support/photographs.ts";
import { expect, test as base } from "../support/portal-test.ts";
import { createReleaseTools } from "../support/releases.ts";
import { createSentinel } from "../support/sentinel.ts";

const test = base.extend<{
  readonly google: GoogleDriveServer;
  readonly onedrive: OneDriveServer;
  readonly drivesInDocument: undefined;
}>({
  google: async ({}, use) => {
    const server = await startGoogleDrive("google-client");
    await use(server);
    await server.stop();
  },
  onedrive: async ({}, use) => {
    const server = await startOneDrive("onedrive-client");
    await use(server);
    await server.stop();
  },
  /** Names both drives in the portal's document while a story runs. */
  drivesInDocument: [
    async ({ portal, google, onedrive }, use) => {
      const restore = await createReleaseTools(portal).patchDeployment({
        drives: {
          google: {
            client_id: "google-client",
            authorize_url: `${google.origin}/o/oauth2/v2/auth`,
            api_origin: google.origin,
          },
          onedrive: {
            client_id: "onedrive-client",
            authority: `${onedrive.origin}/consumers`,
            graph_url: `${onedrive.origin}/v1.0`,
            picker_url: `${onedrive.origin}/picker`,
            content_origins: [onedrive.origin],
          },
        },
      });
      await use(undefined);
      await restore();
    },
    { auto: true },
  ],
});

/** Presses a button of the portal; returns the window that it opens. */
async function openPopup(page: Page, button: string): Promise<Page> {
  const scope = button.startsWith("Choose") ? pictureField(page) : page;
  const [popup] = await Promise.all([
    page.context().waitForEvent("page"),
    scope.getByRole("button", { name: button }).click(),
  ]);
  return popup;
}
/** Presses a link or button of a provider's page, which may close its window. */
async function press(popup: Page, role: "link" | "button", name: string): Promise<void> {
  await popup.getByRole(role, { name, exact: true }).click();
}
async function makeKit(page: Page, passphrase: string | null): Promise<void> {
  if (passphrase !== null) await fillInField(page, "Passphrase, if the picture has one", passphrase);
  await pressButton(page, "Make the kit");
  await expect(page.getByRole("heading", { name: "The kit is ready" })).toBeVisible({ timeout: 120_000 });
}

test("drives: kits and pictures go to Google Drive and OneDrive, and pictures come from there", async ({
  page,
  google,
  onedrive,
}) => {
  const passphrase = `four words and ${createSentinel()}`;
  const pictureFile = { name: "mountains.jpg", type: "image/jpeg", bytes: await readFile(photographs.small) };
  google.otherFiles.push({ id: "g-1", ...pictureFile });
  onedrive.otherFiles.push({ id: "o-1", ...pictureFile });

  await test.step("a user has a secret protected by a picture with a passphrase", async () => {
    await signUp(page, newAccount());
    await protect(page, {
      text: `legal winner ${createSentinel()}`,
      title: "Wallet",
      tags: [],
      image: { file: photographs.small, passphrase },
    });
    await answerDeviceQuestion(page, "My own device");
  });

  await test.step("a closed window, or a refusal, changes nothing and is reported", async () => {
    await navigateInApp(page, "/safeguard");
    const popup = await openPopup(page, "Choose from OneDrive");
    const field = pictureField(page);
    await expect(field.getByText("Continue in the OneDrive window.")).toBeVisible();
    await popup.close();
    await expect(field.getByText("The OneDrive window was closed too early.")).toBeVisible();
    const secondPopup = await openPopup(page, "Choose from OneDrive");
    await press(secondPopup, "link", "Cancel");
    await expect(field.getByRole("alert")).toContainText("Access to OneDrive was not allowed");
    expect((await new AxeBuilder({ page }).analyze()).violations).toEqual([]);
  });

  await test.step("the picture comes from OneDrive's own picker, and opens; the kit goes to Google Drive", async () => {
    const popup = await openPopup(page, "Choose from OneDrive");
    await press(popup, "link", "Accept");
    await expect(popup).toHaveTitle("OneDrive"); // the picker got its token
    await press(popup, "button", "mountains.jpg");
    await expect(pictureField(page).getByText("mountains.jpg")).toBeVisible();
    await makeKit(page, passphrase);
    const googlePopup = await openPopup(page, "Save to Google Drive");
    await press(googlePopup, "link", "Allow");
    await expect(page.getByText("Saved to Google Drive.")).toBeVisible();
    await expect.poll(() => googlePopup.isClosed()).toBe(true);
    expect(google.files.map(({ name, type }) => ({ name, type }))).toEqual([
      { name: expect.stringMatching(/^kit-.*\.html$/), type: "text/html" },
    ]);
    const [download] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("button", { name: "Save the kit again" }).click(),
    ]);
    expect(google.files[0]?.bytes.equals(await readFile(await download.path()))).toBe(true);
  });

  await test.step("on the drive that the picture came from, a warning comes first", async () => {
    const popup = await openPopup(page, "Save to OneDrive");
    await press(popup, "link", "Accept");
    await expect(page.getByRole("dialog")).toContainText("Both on OneDrive?");
    await page.getByRole("button", { name: "Cancel" }).click();
    await expect(page.getByRole("dialog")).toHaveCount(0);
    expect(onedrive.folder).toEqual([]);
    await page.getByRole("button", { name: "Save to OneDrive" }).click(); // the page still has the token: no window opens
    await page.getByRole("button", { name: "Save it there anyway" }).click();
    await expect(page.getByText("Saved to OneDrive.")).toBeVisible();
    expect(onedrive.folder.map(({ name }) => name)).toEqual([expect.stringMatching(/^kit-.*\.html$/)]);
    expect(onedrive.folder[0]?.bytes.equals(google.files[0]?.bytes ?? Buffer.alloc(0))).toBe(true);
  });

  await test.step("the picture comes from Google Drive's own picker", async () => {
    await page.reload();
    const popup = await openPopup(page, "Choose from Google Drive");
    await press(popup, "link", "mountains.jpg");
    await press(popup, "link", "Allow");
    await expect(pictureField(page).getByText("mountains.jpg")).toBeVisible();
  });

  await test.step("no token was stored, and none is in a URL", async () => {
    const storedValues = await page.evaluate(() =>
      JSON.stringify([Object.entries(localStorage), Object.entries(sessionStorage), location.href]),
    );
    for (const { headers } of [...google.requests, ...onedrive.requests]) {
      const token = headers.authorization?.replace("Bearer ", "");
      if (token !== undefined) expect(storedValues).not.toContain(token);
    }
    expect(
      [...google.requests, ...onedrive.requests].filter(
        ({ headers }) => headers.cookie !== undefined && headers.authorization !== undefined,
      ),
    ).toEqual([]);
  });
});

test("drives: a kit that opens with only the picture goes to none", async ({ page, google, onedrive }) => {
  const requestCount = google.requests.length + onedrive.requests.length;
  await signUp(page, newAccount());
  await protect(page, {
    text: createSentinel(),
    title: "Plain",
    tags: [],
    image: { file: photographs.small, passphrase: null },
  });
  await answerDeviceQuestion(page, "My own device");
  await navigateInApp(page, "/safeguard");
  await choosePicture(page, photographs.small);
  await makeKit(page, null);
  await expect(page.getByText("Don't keep this kit on a cloud drive")).toBeVisible();
  await expect(page.getByRole("button", { name: /^Save to/ })).toHaveCount(0);
  expect(google.requests.length + onedrive.requests.length).toBe(requestCount);
});
