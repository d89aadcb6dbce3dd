import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";

import { chromium, type BrowserContext, type Page, type Request } from "@playwright/test";

import { newAccount, signIn, signUp } from "../pages/account.ts";
import { goWithin } from "../pages/places.ts";
import { answerDevice, openRecovery, protect, showPicture } from "../pages/secrets.ts";
import { chromiumArguments } from "../support/browser.ts";
import { digestOfFile, writeLargeFile } from "../support/large-file.ts";
import { watchMemory, watchTasks, type LongestTask, type MemoryWatch } from "../support/memory.ts";
import { photographs } from "../support/photographs.ts";
import { expect, test } from "../support/portal-test.ts";

/** 64 in the tests; `pnpm bench:files` takes 1024. */
const mebibytes = Number(process.env["RELICARIO_FILE_MIB"] ?? "64");
/**
 * Bytes of heaps, buffers and WASM (sealing.md, Budgets). The longest task is noted here and judged
 * by `pnpm bench:files`, on a machine that does nothing else.
 */
const heapLimit = 150_000_000;

const isPart = (request: Request): boolean =>
  request.method() === "POST" && request.url().includes("/v2/secrets/secret/upload/");

test("large-file: a file goes on after its tab was closed half way, and comes back whole", async ({ portal }) => {
  test.setTimeout(120_000 + mebibytes * 10_000);
  const patience = { timeout: 60_000 + mebibytes * 4_000 };
  const folder = await mkdtemp(path.join(tmpdir(), "relicario-large-"));
  const file = path.join(folder, "film.mp4");
  const expected = await writeLargeFile(file, mebibytes);
  const account = newAccount();
  const title = "The film";
  const figures: Record<string, number | Readonly<Record<string, number>>> = { mebibytes };
  const note = async (
    phase: "send" | "resume" | "save",
    memory: MemoryWatch,
    longest: () => Promise<LongestTask>,
  ): Promise<void> => {
    const { busy, wall } = await longest();
    const { most, parts } = await memory.stop();
    Object.assign(figures, {
      [`${phase}_heap`]: most,
      [`${phase}_heap_parts`]: parts,
      [`${phase}_longest_task`]: busy,
      [`${phase}_longest_task_wall`]: wall,
    });
  };
  const profiles: BrowserContext[] = [];
  const newProfile = async (name: string): Promise<Page> => {
    const context = await chromium.launchPersistentContext(path.join(folder, name), {
      ...chromiumArguments(),
      baseURL: portal.origin,
      locale: "en-GB",
      acceptDownloads: true,
    });
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
      await answerDevice(page, "My own device");
      await goWithin(page, "/add-secret");
      await page.getByRole("radio", { name: "File", exact: true }).check();
      await page.getByLabel("File to protect").setInputFiles(file);
      await page.getByLabel("Title").fill(title);
    });

    const sentBefore = await test.step("the tab is closed half way", async () => {
      const half = Math.floor((mebibytes * 1024 * 1024) / (8 * 1024 * 1024) / 2);
      let sent = 0;
      const halfWay = new Promise<void>((resolve) => {
        page.on("requestfinished", (request) => {
          if (isPart(request) && ++sent === half) resolve();
        });
      });
      const memory = await watchMemory(page);
      const longest = await watchTasks(page);
      const began = Date.now();
      await page.getByRole("button", { name: "Protect", exact: true }).click();
      await halfWay;
      figures["send_seconds_half"] = (Date.now() - began) / 1000;
      await page.context().setOffline(true); // nothing more leaves while the measuring ends
      await note("send", memory, longest);
      await page.close();
      await profiles[0]?.setOffline(false);
      return sent;
    });

    await test.step("another file is refused; the same one goes on where it stopped, and is published", async () => {
      const again = await profiles[0]?.newPage();
      if (again === undefined) throw new TypeError("no profile");
      let sent = 0;
      again.on("requestfinished", (request) => {
        if (isPart(request)) sent++;
      });
      await again.goto("/secrets");
      const waiting = again
        .getByRole("listitem")
        .filter({ has: again.getByLabel(`The file of ${title}`, { exact: true }) });
      await expect(waiting).toContainText("Choose the same file again");
      const other = path.join(folder, "other.mp4");
      await writeLargeFile(other, mebibytes);
      await again.getByLabel(`The file of ${title}`, { exact: true }).setInputFiles(other);
      await expect(waiting.getByRole("alert")).toBeVisible(patience);
      expect(sent).toBe(0);
      const memory = await watchMemory(again);
      const longest = await watchTasks(again);
      await again.getByLabel(`The file of ${title}`, { exact: true }).setInputFiles(file);
      await expect(again.getByText("Your file is protected.").first()).toBeVisible(patience);
      expect(sent).toBeGreaterThan(0);
      expect(sent).toBeLessThanOrEqual(Math.ceil(mebibytes / 8) + 1 - sentBefore);
      await note("resume", memory, longest);
    });

    await test.step("another profile downloads it, byte for byte", async () => {
      const other = await newProfile("second");
      await other.addInitScript(() => {
        Reflect.deleteProperty(globalThis, "showSaveFilePicker"); // nobody can answer the system's own dialog here
      });
      await signIn(other, account, { at: "/secrets" });
      await other.getByRole("link", { name: "Unlock with your picture" }).click();
      await showPicture(other, photographs.small);
      await answerDevice(other, "My own device");
      await openRecovery(other, title);
      await showPicture(other, photographs.small);
      const button = other.getByRole("button", { name: "Download the file" });
      await expect(button).toBeVisible({ timeout: 90_000 });
      const memory = await watchMemory(other);
      const longest = await watchTasks(other);
      const began = Date.now();
      const [download] = await Promise.all([other.waitForEvent("download", patience), button.click()]);
      const saved = path.join(folder, "saved.mp4");
      await download.saveAs(saved);
      figures["save_seconds"] = (Date.now() - began) / 1000;
      await note("save", memory, longest);
      expect(await digestOfFile(saved)).toBe(expected);
    });

    await test.step("memory stayed within its budget, and the longest tasks are noted", async () => {
      const out = process.env["RELICARIO_FIGURES"];
      if (out !== undefined) await writeFile(out, JSON.stringify(figures));
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
