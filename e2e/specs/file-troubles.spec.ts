import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";

import type { Page } from "@playwright/test";

import { newAccount, signUp } from "../pages/account.ts";
import { navigateInApp } from "../pages/navigation.ts";
import { openedContent, pressInOpened } from "../pages/picture-field.ts";
import { answerDeviceQuestion, openRecovery, protect, row, showOpenerFirst, showPicture } from "../pages/secrets.ts";
import { countRows } from "../support/database.ts";
import { hashFile, writeLargeFile } from "../support/large-file.ts";
import { PartGate } from "../support/part-gate.ts";
import { photographs } from "../support/photographs.ts";
import { expect, test } from "../support/portal-test.ts";

const mebibytes = 48;
const partCount = 7; // of 8 MiB, the last one not full
const uploadPattern = "**/v2/secrets/secret/upload/*";

async function chooseFile(page: Page, file: string, title: string): Promise<void> {
  await navigateInApp(page, "/add-secret");
  await page.getByRole("radio", { name: "File", exact: true }).check();
  await page.getByLabel("File to protect").setInputFiles(file);
  await page.getByLabel("Title").fill(title);
}

/** Does not reload, so that an upload continues. */
async function goToSecrets(page: Page): Promise<void> {
  await page
    .getByRole("navigation", { name: "Main navigation" })
    .getByRole("link", { name: "Secrets", exact: true })
    .click();
}

test("file-troubles: a lost connection, the lock, cancelling and a full disk lose nothing", async ({
  page,
  context,
  portal,
}) => {
  const waitOptions = { timeout: 90_000 };
  const folder = await mkdtemp(path.join(tmpdir(), "relicario-troubles-"));
  const file = path.join(folder, "film.mp4");
  const expectedDigest = await writeLargeFile(file, mebibytes);
  try {
    await signUp(page, newAccount());
    await protect(page, {
      text: "small",
      title: "Small",
      tags: [],
      image: { file: photographs.small, passphrase: null },
    });
    await answerDeviceQuestion(page, "My own device");

    const partGate = new PartGate();
    await page.route(uploadPattern, (route) => partGate.handle(route));

    await test.step("the connection is lost between two parts, and comes back; the device is locked", async () => {
      partGate.allowedPartCount = 2;
      await chooseFile(page, file, "The film");
      await page.getByRole("button", { name: "Protect", exact: true }).click();
      await expect.poll(() => partGate.heldRoutes.length, waitOptions).toBeGreaterThan(0);
      const failedRequest = page.waitForEvent("requestfailed");
      await context.setOffline(true);
      await partGate.releaseHeld();
      await failedRequest;
      await context.setOffline(false);
      await expect.poll(() => partGate.heldRoutes.length, waitOptions).toBeGreaterThan(0); // it retries
      await goToSecrets(page);
      await page.getByRole("button", { name: "Lock", exact: true }).click();
    });

    await test.step("sealing and sending continue while the device is locked; publishing waits", async () => {
      let publishCallCount = 0;
      page.on("request", (request) => {
        if (request.method() === "PUT" && request.url().includes("/v2/secrets/secret")) publishCallCount++;
      });
      await expect(page.getByText("This device is locked").first()).toBeVisible();
      partGate.allowedPartCount = Infinity;
      await partGate.releaseHeld();
      await expect.poll(() => countRows(portal, "upload_parts"), waitOptions).toBe(partCount);
      await expect(page.getByText("This device is locked").first()).toBeVisible();
      expect(publishCallCount).toBe(0);
      await page.getByRole("link", { name: "Unlock with your picture" }).click();
      await showPicture(page, photographs.small);
      await expect.poll(() => countRows(portal, "upload_parts"), waitOptions).toBe(0); // they belong to the version now
      await page.goto("/secrets");
      await expect(row(page, "The film")).toBeVisible();
      await expect(page.getByRole("heading", { name: "Uploads in progress" })).toBeHidden();
    });

    await test.step("another upload is cancelled half way, and leaves nothing", async () => {
      await chooseFile(page, file, "Not this one");
      partGate.allowedPartCount = 2;
      await page.getByRole("button", { name: "Protect", exact: true }).click();
      await showOpenerFirst(page, photographs.small); // the page was loaded anew
      await expect.poll(() => countRows(portal, "upload_parts"), waitOptions).toBeGreaterThan(0);
      await page.getByRole("button", { name: "Cancel", exact: true }).click();
      await expect.poll(() => countRows(portal, "upload_parts"), waitOptions).toBe(0);
      await page.goto("/secrets");
      await expect(row(page, "The film")).toBeVisible();
      await expect(row(page, "Not this one")).toBeHidden();
      await expect(page.getByRole("heading", { name: "Uploads in progress" })).toBeHidden();
    });

    await test.step("the disk is full while the file is saved: the page says so, and the file is complete once there is room", async () => {
      await openRecovery(page, "The film");
      await showPicture(page, photographs.small);
      const opened = openedContent(page);
      await expect(opened.getByRole("button", { name: "Save the file" })).toBeEnabled(waitOptions);
      const cdp = await context.newCDPSession(page);
      await cdp.send("Storage.overrideQuotaForOrigin", { origin: portal.vaultOrigin, quotaSize: 20_000_000 });
      await pressInOpened(page, "Save the file");
      await expect(opened.getByRole("alert").filter({ hasText: "This device has no space left" })).toBeVisible(
        waitOptions,
      );
      await cdp.send("Storage.overrideQuotaForOrigin", { origin: portal.vaultOrigin });
      const [download] = await Promise.all([
        page.waitForEvent("download", waitOptions),
        pressInOpened(page, "Save the file"),
      ]);
      const savedPath = path.join(folder, "saved.mp4");
      await download.saveAs(savedPath);
      expect(await hashFile(savedPath)).toBe(expectedDigest);
    });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});
