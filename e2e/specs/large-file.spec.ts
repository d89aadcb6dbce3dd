import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";

import { chromium, type BrowserContext, type Page, type Request } from "@playwright/test";

import { newAccount, signIn, signUp } from "../pages/account.ts";
import { navigateInApp } from "../pages/navigation.ts";
import { choosePicture, openedContent, pressButton, pressInOpened } from "../pages/picture-field.ts";
import { answerDeviceQuestion, openRecovery, protect, showPicture } from "../pages/secrets.ts";
import { createStoryLaunchOptions } from "../support/browser.ts";
import { hashFile, writeLargeFile } from "../support/large-file.ts";
import { watchMemory, watchTasks, type LongestTask, type MemoryWatch } from "../support/memory.ts";
import { photographs } from "../support/photographs.ts";
import { expect, test } from "../support/portal-test.ts";
import { actOnceStarted } from "../support/starting-elements.ts";

/** 64 in the tests; `pnpm bench:files` takes 1024. */
const mebibytes = Number(process.env["RELICARIO_FILE_MIB"] ?? "64");
/**
 * Bytes of heaps, buffers and WASM. The longest task is only recorded here; `pnpm bench:files`
 * judges it on an idle machine.
 */
const heapLimit = 150_000_000;

const isPartRequest = (request: Request): boolean =>
  request.method() === "POST" && request.url().includes("/v2/secrets/secret/upload/");

test("large-file: an upload resumes after its tab was closed half way, and the file comes back whole", async ({
  portal,
}) => {
  test.setTimeout(120_000 + mebibytes * 10_000);
  const waitOptions = { timeout: 60_000 + mebibytes * 4_000 };
  const folder = await mkdtemp(path.join(tmpdir(), "relicario-large-"));
  const file = path.join(folder, "film.mp4");
  const expectedDigest = await writeLargeFile(file, mebibytes);
  const account = newAccount();
  const title = "The film";
  const figures: Record<string, number | Readonly<Record<string, number>>> = { mebibytes };
  const recordFigures = async (
    phase: "send" | "resume" | "save",
    memory: MemoryWatch,
    readLongestTask: () => Promise<LongestTask>,
  ): Promise<void> => {
    const { threadTime, wallTime } = await readLongestTask();
    const { peakBytes, bytesByTarget } = await memory.stop();
    Object.assign(figures, {
      [`${phase}_heap`]: peakBytes,
      [`${phase}_heap_parts`]: bytesByTarget,
      [`${phase}_longest_task`]: threadTime,
      [`${phase}_longest_task_wall`]: wallTime,
    });
  };
  const profiles: BrowserContext[] = [];
  const newProfile = async (name: string): Promise<Page> => {
    const context = await chromium.launchPersistentContext(path.join(folder, name), {
      ...createStoryLaunchOptions(),
      baseURL: portal.origin,
      locale: "en-GB",
      acceptDownloads: true,
    });
    actOnceStarted(context);
    profiles.push(context);
    return context.pages()[0] ?? (await context.newPage());
  };

  try {
    const page = await newProfile("first");
    await test.step("a person protects a small secret, then a large file", async () => {
      await signUp(page, account);
      await protect(page, {
        text: "small",
        title: "Small",
        tags: [],
        image: { file: photographs.small, passphrase: null },
      });
      await answerDeviceQuestion(page, "My own device");
      await navigateInApp(page, "/add-secret");
      await page.getByRole("radio", { name: "File", exact: true }).check();
      await page.getByLabel("File to protect").setInputFiles(file);
      await page.getByLabel("Title").fill(title);
    });

    const sentPartsBefore = await test.step("the tab is closed half way", async () => {
      const halfOfParts = Math.floor((mebibytes * 1024 * 1024) / (8 * 1024 * 1024) / 2);
      let sentParts = 0;
      const halfSent = new Promise<void>((resolve) => {
        page.on("requestfinished", (request) => {
          // nothing more leaves while the measuring ends
          if (isPartRequest(request) && ++sentParts === halfOfParts) resolve(page.context().setOffline(true));
        });
      });
      const memory = await watchMemory(page);
      const readLongestTask = await watchTasks(page);
      const startedAt = Date.now();
      await page.getByRole("button", { name: "Protect", exact: true }).click();
      await halfSent;
      figures["send_seconds_half"] = (Date.now() - startedAt) / 1000;
      await recordFigures("send", memory, readLongestTask);
      await page.close();
      await profiles[0]?.setOffline(false);
      return sentParts;
    });

    await test.step("another file is refused; the same one resumes where it stopped, and is published", async () => {
      const secondTab = await profiles[0]?.newPage();
      if (secondTab === undefined) throw new TypeError("no profile");
      let sentParts = 0;
      secondTab.on("requestfinished", (request) => {
        if (isPartRequest(request)) sentParts++;
      });
      await secondTab.goto("/secrets");
      const pendingUpload = secondTab
        .getByRole("listitem")
        .filter({ has: secondTab.getByLabel(`The file of ${title}`, { exact: true }) });
      await expect(pendingUpload).toContainText("Choose the same file again");
      const otherFile = path.join(folder, "other.mp4");
      await writeLargeFile(otherFile, mebibytes);
      await secondTab.getByLabel(`The file of ${title}`, { exact: true }).setInputFiles(otherFile);
      await expect(pendingUpload.getByRole("alert")).toBeVisible(waitOptions);
      expect(sentParts).toBe(0);
      const memory = await watchMemory(secondTab);
      const readLongestTask = await watchTasks(secondTab);
      await secondTab.getByLabel(`The file of ${title}`, { exact: true }).setInputFiles(file);
      // all parts are sent; the reloaded page needs an opener to publish them
      const openerPrompt = secondTab.getByRole("group", { name: `Way to open for ${title}` });
      await expect(openerPrompt).toBeVisible(waitOptions);
      await choosePicture(openerPrompt, photographs.small);
      await pressButton(openerPrompt, `Use it and save: ${title}`);
      await expect(secondTab.getByText("Your file is protected.").first()).toBeVisible(waitOptions);
      expect(sentParts).toBeGreaterThan(0);
      expect(sentParts).toBeLessThanOrEqual(Math.ceil(mebibytes / 8) + 1 - sentPartsBefore);
      await recordFigures("resume", memory, readLongestTask);
    });

    await test.step("another profile downloads it, byte for byte", async () => {
      const otherPage = await newProfile("second");
      await signIn(otherPage, account, { path: "/secrets" });
      await otherPage.getByRole("link", { name: "Unlock with your picture" }).click();
      await showPicture(otherPage, photographs.small);
      await answerDeviceQuestion(otherPage, "My own device");
      await openRecovery(otherPage, title);
      await showPicture(otherPage, photographs.small);
      await expect(openedContent(otherPage).getByRole("button", { name: "Save the file" })).toBeEnabled({
        timeout: 90_000,
      });
      const memory = await watchMemory(otherPage);
      const readLongestTask = await watchTasks(otherPage);
      const startedAt = Date.now();
      const [download] = await Promise.all([
        otherPage.waitForEvent("download", waitOptions),
        pressInOpened(otherPage, "Save the file"),
      ]);
      const savedPath = path.join(folder, "saved.mp4");
      await download.saveAs(savedPath);
      figures["save_seconds"] = (Date.now() - startedAt) / 1000;
      await recordFigures("save", memory, readLongestTask);
      expect(await hashFile(savedPath)).toBe(expectedDigest);
    });

    await test.step("memory stayed within its budget; the longest tasks are recorded", async () => {
      const figuresFile = process.env["RELICARIO_FIGURES"];
      if (figuresFile !== undefined) await writeFile(figuresFile, JSON.stringify(figures));
      test.info().annotations.push({ type: "figures", description: JSON.stringify(figures) });
      console.log(JSON.stringify(figures));
      for (const phase of ["send", "resume", "save"]) {
        expect(figures[`${phase}_heap`], `bytes in the phase ${phase}`).toBeLessThan(heapLimit);
        expect(figures[`${phase}_heap`], "something was measured").toBeGreaterThan(1_000_000);
        expect(figures[`${phase}_longest_task`], `milliseconds in the phase ${phase}`).toBeGreaterThan(0);
      }
    });
  } finally {
    for (const context of profiles) await context.close();
    await rm(folder, { recursive: true, force: true });
  }
});
