/**
 * Times a long list: `pnpm bench:list [secrets] [folder]`. Seals 10,000 secrets and sends them
 * through the service. Opens the list in Chromium as the user's own device: cold, without saved
 * rows, and on a second visit. A named folder keeps the seeded account for further runs. Phases
 * come from the calls of the vault's frame and its worker's User Timing, and overlap. Times are
 * medians of each phase. Tasks are measured by the thread's processor time (decision 0016). The
 * last line is JSON; fails when a limit is missed.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { cpus, loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { chromium, type Page } from "@playwright/test";
import { startPortal } from "@relicario/tooling/portal";
import { z } from "zod";

import { newAccount, signIn, signUp } from "../pages/account.ts";
import { answerDeviceQuestion, protect, showPicture } from "../pages/secrets.ts";
import { disableTours } from "../support/onboarding.ts";
import { createLaunchOptions } from "../support/browser.ts";
import { attachTargets } from "../support/devtools-targets.ts";
import { requireVaultFrame } from "../support/vault-origin.ts";
import { findLongestOwnTask } from "./trace.ts";

/**
 * Milliseconds from the first call to rows on the screen, of any task of the page, and from a key
 * to its result; and MB.
 */
const limits = {
  cold_first_rows_ms: 2_000,
  second_first_rows_ms: 600,
  cold_longest_task_ms: 50,
  second_longest_task_ms: 50,
  keystroke_p95_ms: 50,
  heap_mb: 150,
} as const;

const root = fileURLToPath(new URL("../..", import.meta.url));
const picturePath = join(root, "e2e/fixtures/photos/picos-3264x2448.jpg");
const readingCount = 5;
const searchLabel = "Search titles, tags and file names";
/** Where the vault stores the sealed rows of the user's own device (docs/formats.md). */
const rowsStore = { database: "relicario-rows", heads: "heads" } as const;
const queries = ["passport 77", "garden", "recovery ph", "will 9", "harbour"] as const;

const SeededAccount = z.object({ userName: z.string(), password: z.string() });
const HeapUsage = z.object({ usedSize: z.number() });

const [secrets, seedFolder] = process.argv.slice(2).filter((word) => word !== "--");
const count = z.coerce.number().int().min(10).default(10_000).parse(secrets);

const folder = seedFolder ?? (await mkdtemp(join(tmpdir(), "relicario-bench-")));
const seededFile = join(folder, "seeded.json");
const portal = await startPortal({
  port: seedFolder === undefined ? 0 : 4173, // the browser's storage belongs to the origin
  dataDir: join(folder, "data"),
  log: (line) => {
    console.log(line);
  },
  // Seeding writes far above the usual rate, in one session.
  environment: { service: { RATE_LIMITS: JSON.stringify({ write: 1_000_000 }), SESSION_TTL_SECONDS: "86400" } },
});
try {
  const context = await chromium.launchPersistentContext(join(folder, "profile"), {
    ...createLaunchOptions(),
    baseURL: portal.origin,
    viewport: { width: 1280, height: 900 },
  });
  const page = await context.newPage();
  if (existsSync(seededFile)) await resumeAccount(page);
  else await seedAccount(page);
  const figures: Readonly<Record<string, number>> = await measure(page);
  await context.close();
  const [processor] = cpus();
  const machine = {
    processor: `${String(cpus().length)} × ${processor?.model ?? "unknown"}, ${String(processor?.speed ?? 0)} MHz`,
    load: loadavg()[0] ?? 0,
  };
  console.log(`${machine.processor}, load ${machine.load.toFixed(1)}`);
  for (const [name, value] of Object.entries(figures))
    console.log(`${name.padEnd(32)}${value.toFixed(1).padStart(10)}`);
  const ok = Object.entries(limits).every(([name, limit]) => (figures[name] ?? Infinity) < limit);
  console.log(JSON.stringify({ bench: "list", ok, figures: { ...figures, ...machine }, limits }));
  process.exitCode = ok ? 0 : 1;
} finally {
  await portal.stop();
  if (seedFolder === undefined) await rm(folder, { recursive: true, force: true });
}

async function seedAccount(page: Page): Promise<void> {
  const token = readToken(page);
  const account = newAccount();
  await signUp(page, account);
  await protect(page, {
    text: "the first one",
    title: "First",
    tags: [],
    image: { file: picturePath, passphrase: null },
  });
  await answerDeviceQuestion(page, "My own device");
  const seconds = await seed(await token, count - 1);
  console.log(`seeded ${String(count - 1)} secrets in ${seconds.toFixed(0)} s`);
  await writeFile(seededFile, JSON.stringify(account));
}

async function measure(page: Page): Promise<Readonly<Record<string, number>>> {
  await page.addInitScript(watchList, count);
  const [cold, second]: [ListReading[], ListReading[]] = [[], []];
  await readList(page); // lets the browser compile the scripts
  for (let reading = 0; reading < readingCount; reading++) {
    await deleteRows(page);
    cold.push(await readList(page));
    await waitForStoredRows(page);
    second.push(await readList(page));
  }
  const typing = await typeWords(page);
  return {
    secrets: count,
    ...medians("cold", cold),
    ...medians("second", second),
    keystroke_p50_ms: quantile(typing, 0.5),
    keystroke_p95_ms: quantile(typing, 0.95),
    heap_mb: await measureHeap(page),
  };
}

/** Opens the account of an earlier run, which may still be signed in. */
async function resumeAccount(page: Page): Promise<void> {
  await disableTours(page);
  await page.goto("/");
  const nameField = page.getByLabel("User name or e-mail");
  await nameField
    .or(page.getByRole("navigation", { name: "Main navigation" }))
    .first()
    .waitFor();
  if (await nameField.isVisible())
    await signIn(page, SeededAccount.parse(JSON.parse(await readFile(seededFile, "utf8"))));
  await page.goto("/secrets");
  const unlockLink = page.getByRole("link", { name: "Unlock with your picture" });
  await unlockLink.or(page.getByLabel(searchLabel)).first().waitFor({ timeout: 120_000 });
  if (!(await unlockLink.isVisible())) return;
  await unlockLink.click(); // auto-lock locked it since
  await showPicture(page, picturePath, null);
  await page.getByLabel(searchLabel).waitFor({ timeout: 120_000 });
}

/** The session's token, from the first call that carries it. */
async function readToken(page: Page): Promise<string> {
  const request = await page.waitForRequest(
    (candidate) =>
      candidate.headers()["authorization"]?.startsWith("Bearer ") === true && candidate.url().includes("/user/keyring"),
    { timeout: 120_000 },
  );
  return (request.headers()["authorization"] ?? "").slice("Bearer ".length);
}

/** Returns the seconds that seeding took. */
async function seed(token: string, secrets: number): Promise<number> {
  const startedAt = performance.now();
  const child = spawn(
    process.execPath,
    ["--disable-warning=ExperimentalWarning", join(root, "remote-recovery/vault/bench/seed-list.ts"), String(secrets)],
    {
      env: { ...process.env, SEED_API: `${portal.origin}/api`, SEED_TOKEN: token, SEED_PICTURE: picturePath },
      stdio: ["ignore", "inherit", "inherit"],
    },
  );
  const [code, signal] = (await once(child, "exit")) as [number | null, NodeJS.Signals | null];
  if (code !== 0) throw new Error(`seeding ended with ${String(code ?? signal)}`);
  return (performance.now() - startedAt) / 1000;
}

type ListReading = Readonly<Record<string, number>>;

function medians(visit: string, samples: readonly ListReading[]): ListReading {
  const names = [...new Set(samples.flatMap((sample) => Object.keys(sample)))];
  return Object.fromEntries(
    names.map((name) => [`${visit}_${name}`, median(samples.map((sample) => sample[name] ?? 0))]),
  );
}

async function deleteRows(page: Page): Promise<void> {
  await requireVaultFrame(page).evaluate(
    (name) =>
      new Promise((resolve, reject) => {
        const request = indexedDB.deleteDatabase(name);
        request.onsuccess = resolve;
        request.onerror = reject;
      }),
    rowsStore.database,
  );
}

async function waitForStoredRows(page: Page): Promise<void> {
  await requireVaultFrame(page).waitForFunction(
    ({ database: name, heads }) =>
      new Promise<boolean>((resolve) => {
        const request = indexedDB.open(name);
        request.onupgradeneeded = () => request.transaction?.abort(); // no database yet, and none is created here
        request.onerror = () => {
          resolve(false);
        };
        request.onsuccess = () => {
          const counting = request.result.transaction(heads).objectStore(heads).count();
          counting.onsuccess = () => {
            request.result.close();
            resolve(counting.result > 0);
          };
        };
      }),
    rowsStore,
    { polling: 200, timeout: 120_000 },
  );
}

interface Marks {
  first: number | null;
  all: number | null;
}

/** Runs in the page before its own scripts: records when rows are on the screen. */
function watchList(secrets: number): void {
  const marks: Marks = { first: null, all: null };
  Object.assign(globalThis, { listMarks: marks });
  performance.setResourceTimingBufferSize(2_000);
  const checkRows = (): void => {
    const row = document.querySelector("li[aria-setsize]");
    if (row === null) return;
    marks.first ??= performance.now();
    if (row.getAttribute("aria-setsize") === String(secrets)) marks.all ??= performance.now();
  };
  new MutationObserver(() => requestAnimationFrame(checkRows)).observe(document, {
    childList: true,
    subtree: true,
    attributes: true,
    attributeFilter: ["aria-setsize"],
  });
}

/** Reloads the list. @returns milliseconds, of which the first two count from its first call */
async function readList(page: Page): Promise<ListReading> {
  const stopTrace = await startTrace(page);
  await page.goto("/secrets");
  await page.waitForFunction(() => (globalThis as unknown as { listMarks: Marks }).listMarks.all !== null, undefined, {
    timeout: 120_000,
  });
  const { first, all, origin } = await page.evaluate(() => ({
    ...(globalThis as unknown as { listMarks: Marks }).listMarks,
    origin: performance.timeOrigin,
  }));
  if (first === null || all === null) throw new Error("the list did not appear");
  const calls = await readVaultCalls(page);
  const firstCallAt = Math.min(...calls.map(({ startedAt }) => startedAt)) - origin;
  const sum = (part: (call: VaultCall) => number): number => calls.reduce((total, call) => total + part(call), 0);
  const times = {
    first_rows_ms: first - firstCallAt,
    all_rows_ms: all - firstCallAt,
    first_rows_from_navigation_ms: first,
    calls: calls.length,
    service_ms: sum(({ serviceMs }) => serviceMs),
    wire_ms: sum(({ wireMs }) => wireMs),
    received_kb: sum(({ bytes }) => bytes) / 1024,
  };
  const vaultMeasures = await readVaultMeasures(page);
  const firstOpening = vaultMeasures.find(({ name }) => name === "list opening first");
  const durations: Record<string, number> = {};
  for (const { name, duration } of vaultMeasures)
    durations[`${name.slice("list ".length).replaceAll(" ", "_")}_ms`] =
      (durations[`${name.slice("list ".length).replaceAll(" ", "_")}_ms`] ?? 0) + duration;
  return {
    ...times,
    ...durations,
    drawing_first_ms: firstOpening === undefined ? 0 : origin + first - firstOpening.end,
    longest_task_ms: findLongestOwnTask(await stopTrace()),
  };
}

interface VaultCall {
  /** Milliseconds since 1970. */
  readonly startedAt: number;
  readonly serviceMs: number;
  readonly wireMs: number;
  readonly bytes: number;
}

/** The list's calls, which the vault's frame makes. */
async function readVaultCalls(page: Page): Promise<readonly VaultCall[]> {
  return requireVaultFrame(page).evaluate(() =>
    (performance.getEntriesByType("resource") as PerformanceResourceTiming[])
      .filter(({ name }) => /\/api\/(user\/keyring|secrets\/store)/.test(name))
      .map(({ startTime, requestStart, responseStart, responseEnd, encodedBodySize }) => ({
        startedAt: performance.timeOrigin + startTime,
        serviceMs: responseStart - requestStart,
        wireMs: responseEnd - responseStart,
        bytes: encodedBodySize,
      })),
  );
}

interface VaultMeasure {
  readonly name: string;
  readonly duration: number;
  /** Milliseconds since 1970. */
  readonly end: number;
}

async function readVaultMeasures(page: Page): Promise<readonly VaultMeasure[]> {
  const measures = await Promise.all(
    page.workers().map(
      (worker) =>
        worker
          .evaluate(() =>
            performance
              .getEntriesByType("measure")
              .filter(({ name }) => name.startsWith("list "))
              .map(({ name, startTime, duration }) => ({
                name,
                duration,
                end: performance.timeOrigin + startTime + duration,
              })),
          )
          .catch(() => []), // a worker that ended meanwhile
    ),
  );
  return measures.flat();
}

/** @returns a function that stops the trace and returns it as JSON */
async function startTrace(page: Page): Promise<() => Promise<Buffer>> {
  const cdp = await page.context().newCDPSession(page);
  const traceEvents: unknown[] = [];
  cdp.on("Tracing.dataCollected", ({ value }) => {
    for (const traceEvent of value) traceEvents.push(traceEvent);
  });
  await cdp.send("Tracing.start", {
    transferMode: "ReportEvents",
    traceConfig: { includedCategories: ["toplevel", "loading", "blink.user_timing"] },
  });
  return async () => {
    const complete = new Promise((resolve) => cdp.once("Tracing.tracingComplete", resolve));
    await cdp.send("Tracing.end");
    await complete;
    await cdp.detach();
    return Buffer.from(JSON.stringify({ traceEvents }));
  };
}

/**
 * Types words. @returns milliseconds from each key to the frame that shows its result, without keys
 * that change nothing
 */
async function typeWords(page: Page): Promise<number[]> {
  const field = page.getByLabel(searchLabel);
  await field.click();
  await page.evaluate(() => {
    const typing: { typedAt: number; shownAt: number | null }[] = [];
    Object.assign(globalThis, { typing });
    addEventListener("input", ({ timeStamp }) => typing.push({ typedAt: timeStamp, shownAt: null }), { capture: true });
    // The first change after a key is its result; a message posted in a frame arrives once that
    // frame is drawn.
    const recordFrame = (): void => {
      const lastKey = typing[typing.length - 1];
      if (lastKey?.shownAt !== null) return;
      const { port1, port2 } = new MessageChannel();
      port1.onmessage = () => {
        lastKey.shownAt ??= performance.now();
      };
      port2.postMessage(null);
    };
    const list = document.querySelector("main") ?? document.body;
    new MutationObserver(() => requestAnimationFrame(recordFrame)).observe(list, {
      childList: true,
      subtree: true,
      characterData: true,
    });
  });
  for (const word of queries) {
    await field.pressSequentially(word, { delay: 150 });
    await field.fill("");
  }
  const typing = await page.evaluate(
    () => (globalThis as unknown as { typing: { typedAt: number; shownAt: number | null }[] }).typing,
  );
  return typing.flatMap(({ typedAt, shownAt }) => (shownAt === null ? [] : [shownAt - typedAt]));
}

/** MiB of JavaScript heap of the page, the vault's frame and workers, after garbage collection. */
async function measureHeap(page: Page): Promise<number> {
  const listTargets = await attachTargets(await page.context().newCDPSession(page));
  let total = 0;
  for (const { request } of listTargets()) {
    await request("HeapProfiler.collectGarbage");
    total += HeapUsage.parse(await request("Runtime.getHeapUsage")).usedSize;
  }
  return total / 1024 / 1024;
}

function quantile(values: readonly number[], fraction: number): number {
  const sorted = values.toSorted((left, right) => left - right);
  return sorted[Math.min(sorted.length - 1, Math.floor(fraction * sorted.length))] ?? Infinity;
}

function median(values: readonly number[]): number {
  return quantile(values, 0.5);
}
