/**
 * Times an import of 5,000 logins into an empty account, from the chosen picture to the last stored
 * item, and an export of 1,000 secrets: `pnpm bench:import [items] [secrets]`. Opens the archive by
 * the commands of its README, with Go's age if Go is installed, otherwise with typage. Memory is
 * the peak of the page and all its workers. The last line is JSON; fails when a limit is missed.
 */
import { mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { cpus, loadavg, tmpdir } from "node:os";
import path from "node:path";

import { chromium, type Browser, type Page } from "@playwright/test";
import { startPortal } from "@relicario/tooling/portal";
import { z } from "zod";

import { newAccount, signUp } from "../pages/account.ts";
import { answerDeviceQuestion } from "../pages/secrets.ts";
import { choosePicture, pictureField } from "../pages/picture-field.ts";
import { openExport } from "../support/age.ts";
import { createLaunchOptions } from "../support/browser.ts";
import { watchMemory } from "../support/memory.ts";
import { photographs } from "../support/photographs.ts";

/** Seconds, and MB of heaps, array buffers and WASM memories. */
const limits = { store_s: 60, import_mb: 150, export_mb: 150 } as const;
/** Bytes by page and worker, at their common peak. */
type MemoryByTarget = Readonly<Record<string, number>>;
const waitOptions = { timeout: 1_200_000 } as const;

const Count = z.coerce.number().int().min(1);
const [itemsArgument, secretsArgument] = process.argv.slice(2).filter((word) => word !== "--");
const itemCount = Count.default(5_000).parse(itemsArgument);
const secretCount = Count.default(1_000).parse(secretsArgument);

const folder = await mkdtemp(path.join(tmpdir(), "relicario-bench-"));
const portal = await startPortal({
  port: 0,
  dataDir: path.join(folder, "data"),
  log: (line) => {
    console.log(line);
  },
});
const browser = await chromium.launch(createLaunchOptions());
try {
  const imported = await importMany(browser, itemCount);
  await imported.page.context().close();
  const { page, ...smallImport } = await importMany(browser, secretCount);
  const { parts: exportParts, ...exported } = await exportAll(page);
  const [processor] = cpus();
  const figures = {
    items: itemCount,
    read_s: imported.read_s,
    store_s: imported.store_s,
    import_mb: imported.import_mb,
    secrets: secretCount,
    store_fewer_s: smallImport.store_s,
    ...exported,
  };
  const machine = { processor: `${String(cpus().length)} × ${processor?.model ?? "unknown"}`, load: loadavg()[0] ?? 0 };
  console.log(`${machine.processor}, load ${machine.load.toFixed(1)}`);
  for (const [name, value] of Object.entries(figures))
    console.log(`${name.padEnd(32)}${typeof value === "number" ? value.toFixed(1).padStart(10) : value}`);
  const ok =
    figures.store_s < limits.store_s &&
    figures.import_mb < limits.import_mb &&
    figures.export_mb < limits.export_mb &&
    figures.opened === secretCount;
  console.log(
    JSON.stringify({
      bench: "import",
      ok,
      figures: { ...figures, import_parts: imported.parts, export_parts: exportParts, ...machine },
      limits,
    }),
  );
  process.exitCode = ok ? 0 : 1;
} finally {
  await browser.close();
  await portal.stop();
  await rm(folder, { recursive: true, force: true });
}

/** Returns the page of a new account, at the list. */
async function importMany(
  client: Browser,
  count: number,
): Promise<{
  readonly page: Page;
  readonly read_s: number;
  readonly store_s: number;
  readonly import_mb: number;
  readonly parts: MemoryByTarget;
}> {
  const file = path.join(folder, `logins-${String(count)}.json`);
  await writeFile(
    file,
    JSON.stringify({
      encrypted: false,
      folders: [{ id: "f1", name: "Work" }],
      items: Array.from({ length: count }, (_, index) => buildLogin(index)),
    }),
  );
  const page = await (
    await client.newContext({ baseURL: portal.origin, locale: "en-GB", viewport: { width: 1280, height: 900 } })
  ).newPage();
  await signUp(page, newAccount());
  const memory = await watchMemory(page);
  await page.goto("/settings/data");
  const selectedAt = performance.now();
  await page.getByLabel("File to import").setInputFiles(file);
  await page.getByRole("heading", { name: "entries found" }).waitFor(waitOptions);
  const readAt = performance.now();
  await choosePicture(page, photographs.small);
  await pictureField(page).getByText("This picture has enough detail").waitFor(waitOptions);
  await pictureField(page)
    .getByRole("checkbox", { name: /Continue without a passphrase/ })
    .check();
  await page.getByLabel("Name of the picture").fill("Hills");
  const startedAt = performance.now();
  await page.getByRole("button", { name: /^Import [\d,.\s]+ entries$/ }).click();
  await page.getByRole("heading", { name: "Import finished" }).waitFor(waitOptions);
  const storedAt = performance.now();
  const { peakBytes, bytesByTarget } = await memory.stop();
  await page.getByText(new RegExp(`^Added: ${String(count)}\\.`)).waitFor(); // all were added
  await answerDeviceQuestion(page, "My own device");
  await page.getByRole("link", { name: "Go to your secrets" }).click();
  return {
    page,
    read_s: toSeconds(readAt - selectedAt),
    store_s: toSeconds(storedAt - startedAt),
    import_mb: peakBytes / 1e6,
    parts: bytesByTarget,
  };
}

/** Exports everything, then opens the archive without the portal. */
async function exportAll(page: Page): Promise<
  Readonly<Record<"export_s" | "export_mb" | "archive_mb" | "opened", number>> & {
    readonly opened_by: string;
    readonly parts: MemoryByTarget;
  }
> {
  const memory = await watchMemory(page);
  await page.goto("/settings/data");
  await page.getByRole("link", { name: "Export everything" }).click();
  await choosePicture(page, photographs.small);
  const startedAt = performance.now();
  const archiveDownload = page.waitForEvent("download", waitOptions);
  await page.getByRole("button", { name: "Export", exact: true }).click();
  await page.getByRole("heading", { name: "The archive contains" }).waitFor(waitOptions);
  const finishedAt = performance.now();
  const archivePath = path.join(folder, "secrets-export.zip");
  await (await archiveDownload).saveAs(archivePath);
  const { peakBytes, bytesByTarget } = await memory.stop();
  const identityDownload = page.waitForEvent("download");
  await page.getByRole("button", { name: "Save the key (exit.txt)" }).click();
  const { contents, tools } = await openExport(
    await readFile(archivePath),
    await readFile(await (await identityDownload).path(), "utf8"),
  );
  const matching = Array.from({ length: secretCount }, (_, index) => buildLogin(index)).filter(
    ({ name, login }) => contents.get(name)?.toString("utf8").includes(JSON.stringify(login.password)) === true,
  );
  return {
    export_s: toSeconds(finishedAt - startedAt),
    export_mb: peakBytes / 1e6,
    parts: bytesByTarget,
    archive_mb: (await stat(archivePath)).size / 1e6,
    opened: matching.length,
    opened_by: tools.join(", "),
  };
}

function buildLogin(index: number) {
  const number = String(index);
  return {
    id: `id-${number}`,
    folderId: "f1",
    type: 1,
    name: `Login ${number}`,
    notes: null,
    login: {
      uris: [{ uri: `https://site-${number}.example` }],
      username: `ana-${number}`,
      password: `password "${number}", kept`,
      totp: null,
    },
  };
}

function toSeconds(milliseconds: number): number {
  return milliseconds / 1000;
}
