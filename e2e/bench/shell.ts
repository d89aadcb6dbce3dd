/**
 * Times the first load of Home and the first click: `pnpm bench:shell`. `pnpm bench:shell --old
 * FOLDER` (also `RELICARIO_OLD`) compares with another installed and built checkout, in turns. Uses
 * headless Chromium without cache. Paint, shifts and long tasks come from the browser's trace,
 * clicks from its event timing (Interaction to Next Paint), sizes from the received scripts,
 * gzipped again here whatever the gateway chose. Clicks and `newAccountScripts` are of this build
 * only, because the page objects know only its screens.
 *
 * - `homeScripts`: of a signed-in user who has seen the tours.
 * - `newAccountScripts`: of a new user, from signing in to the first tour.
 * - `packages`: bytes of Home by package; `buildPackages`: bytes of all pages.
 *
 * No limit is in bytes. Times are medians. The last line is JSON; the exit code is not zero when a
 * limit is missed.
 */
import { loadavg } from "node:os";
import path from "node:path";
import { parseArgs } from "node:util";

import { chromium, expect, type Browser, type Locator, type Page, type Response } from "@playwright/test";

import { signUpByHand, newAccount, signUp } from "../pages/account.ts";
import { answerDeviceQuestion, protect, row } from "../pages/secrets.ts";
import { createLaunchOptions } from "../support/browser.ts";
import { photographs } from "../support/photographs.ts";
import { listRemotes, startCheckout } from "./checkout.ts";
import { measureClick, recordEvents, type Interaction } from "./interaction.ts";
import { listAllScripts, findBuiltFile, computeGzippedSize, computePackageSizes } from "./packages.ts";
import { readPaintFigures, type PaintFigures } from "./trace.ts";

/**
 * `lcpRatio`: largest paint, new build by old; `layoutShift`: without unit, worst run; others in
 * milliseconds.
 */
const limits = { lcpRatio: 1.05, layoutShift: 0, totalBlockingTime: 50, click: 200 } as const;

/** Smaller shifts (part of the screen times distance) are invisible, and count as none. */
const negligibleShift = 0.001;

/** Loads of each page. */
const visitCount = 9;
const clickCount = 5;

/** Bytes below which a package stays out of the tables. */
const minPackageBytes = 1_000;

const screen = { width: 1280, height: 900 } as const;
const phone = { width: 390, height: 844 } as const;
const title = "House keys";

interface Build {
  readonly folder: string;
  readonly origin: string;
  /** Signed in, without cache. */
  readonly page: Page;
  readonly paints: PaintFigures[];
  readonly clicks: ReadonlyMap<ClickName, Interaction[]>;
  scripts: Scripts;
}

interface Scripts {
  readonly page: ReadonlyMap<string, number>;
  readonly workers: ReadonlyMap<string, number>;
}

interface Click {
  readonly route: string;
  readonly size: { readonly width: number; readonly height: number };
  readonly target: (page: Page) => Locator;
  readonly outcome: (page: Page) => Locator;
}

const moreButton = (page: Page): Locator => row(page, title).getByRole("button", { name: /^More for/ });

/** First clicks on a page, each with the element that shows its outcome. */
const clicks = {
  protectClick: {
    route: "/home",
    size: screen,
    target: (page) => page.getByRole("main").getByRole("link", { name: "Protect a secret" }),
    outcome: (page) => page.getByRole("heading", { level: 1, name: "Protect a secret" }),
  },
  rowMenuClick: {
    route: "/secrets",
    size: screen,
    target: moreButton,
    outcome: (page) => page.getByRole("menuitem", { name: "Open" }),
  },
  mobileMenuClick: {
    route: "/home",
    size: phone,
    target: (page) => page.getByRole("button", { name: "Open the menu" }),
    outcome: (page) => page.getByRole("dialog", { name: "Menu" }),
  },
  logOutClick: {
    route: "/home",
    size: screen,
    target: (page) => page.getByRole("button", { name: /^Sign out/ }).first(),
    outcome: (page) =>
      page.getByRole("dialog").or(page.getByRole("alertdialog")).getByRole("button", { name: "Sign out" }),
  },
} as const satisfies Readonly<Record<string, Click>>;
type ClickName = keyof typeof clicks;
const clickNames = [
  "protectClick",
  "rowMenuClick",
  "mobileMenuClick",
  "logOutClick",
] as const satisfies readonly ClickName[];

const { values } = parseArgs({
  args: process.argv.slice(2).filter((word) => word !== "--"),
  options: { old: { type: "string" } },
});
const oldFolder = values.old ?? process.env["RELICARIO_OLD"];
const ownFolder = path.join(import.meta.dirname, "../..");
const cleanups: (() => Promise<void>)[] = [];
try {
  const browser = await chromium.launch({ ...createLaunchOptions(), headless: true });
  cleanups.push(() => browser.close());
  const oldBuild =
    oldFolder === undefined || oldFolder === "" ? null : await openBuild(browser, path.resolve(oldFolder));
  process.exitCode = (await bench(browser, oldBuild, await openBuild(browser, ownFolder))) ? 0 : 1;
} finally {
  for (const cleanup of cleanups.reverse()) await cleanup();
}

async function openBuild(browser: Browser, folder: string): Promise<Build> {
  const { origin, stop } = await startCheckout(folder);
  cleanups.push(stop);
  const context = await browser.newContext({ baseURL: origin, locale: "en-GB", viewport: screen });
  const page = await context.newPage();
  await recordEvents(page);
  await signUp(page, newAccount());
  await disableCache(page);
  return {
    folder,
    origin,
    page,
    paints: [],
    clicks: new Map(clickNames.map((name) => [name, []])),
    scripts: { page: new Map(), workers: new Map() },
  };
}

async function bench(browser: Browser, oldBuild: Build | null, newBuild: Build): Promise<boolean> {
  const builds = oldBuild === null ? [newBuild] : [oldBuild, newBuild];
  const loads = [loadavg()[0] ?? 0];
  for (let visit = 0; visit < visitCount; visit += 1) for (const build of builds) await visitHome(build);
  await protectFirst(newBuild.page);
  for (let round = 0; round < clickCount; round += 1) {
    for (const name of clickNames)
      newBuild.clicks.get(name)?.push(await measureFirstClick(newBuild.page, clicks[name]));
  }
  loads.push(loadavg()[0] ?? 0);

  const figures = {
    ...(oldBuild === null
      ? {}
      : {
          lcpRatio: roundFigure(
            median(newBuild.paints.map(largestPaintOf)) / median(oldBuild.paints.map(largestPaintOf)),
          ),
        }),
    ...summarizeTimes(newBuild),
    clicks: summarizeClicks(newBuild),
    newAccountScripts: sum((await collectFirstVisit(browser, newBuild.origin)).page.values()),
    ...(await summarizeBytes(newBuild)),
    ...(oldBuild === null ? {} : { before: { ...summarizeTimes(oldBuild), ...(await summarizeBytes(oldBuild)) } }),
    packages: await comparePackages(builds, (build) =>
      computePackageSizes(
        [...build.scripts.page].map(([name, size]) => ({ file: findBuiltFile(build.folder, name), size })),
      ),
    ),
    buildPackages: await comparePackages(builds, async (build) =>
      computePackageSizes(await listAllScripts(build.folder)),
    ),
    load: loads.map(roundFigure),
  };
  printSizes("Scripts of Home, bytes after gzip", newBuild.scripts.page);
  printSizes("Scripts of its workers, bytes after gzip", newBuild.scripts.workers);
  printPackages("Bytes of Home by package", figures.packages);
  printPackages("Bytes of all pages by package", figures.buildPackages);
  for (const build of builds) printTimes(build);
  if (oldBuild === null)
    console.log("\nWithout an old build (--old FOLDER) the largest paint is compared with nothing.");

  const missedLimits = [
    ...(figures.lcpRatio !== undefined && figures.lcpRatio > limits.lcpRatio ? ["lcpRatio"] : []),
    ...(figures.layoutShift > limits.layoutShift ? ["layoutShift"] : []),
    ...(figures.totalBlockingTime > limits.totalBlockingTime ? ["totalBlockingTime"] : []),
    ...clickNames.filter((name) => figures.clicks[name].median >= limits.click),
  ];
  for (const name of missedLimits) console.log(`over the limit: ${name}`);
  console.log(JSON.stringify({ bench: "shell", ok: missedLimits.length === 0, figures, limits }));
  return missedLimits.length === 0;
}

/** Opens Home with nothing protected, and waits for all its requests. */
async function visitHome(build: Build): Promise<void> {
  const { page } = build;
  await leavePortal(page);
  const stopCollecting = collectScripts(page);
  await page
    .context()
    .browser()
    ?.startTracing(page, { categories: ["blink.user_timing", "loading", "devtools.timeline", "toplevel"] });
  await page.goto("/home");
  await page.getByRole("heading", { level: 1, name: /hello/i }).waitFor();
  await page.getByRole("heading", { name: "How it works" }).waitFor();
  await page.waitForLoadState("networkidle");
  const trace = await page.context().browser()?.stopTracing();
  if (trace === undefined) throw new TypeError("this page has no browser");
  build.paints.push(readPaintFigures(trace));
  build.scripts = await stopCollecting();
  if (![...build.scripts.page.keys()].some((name) => name.endsWith("/remoteEntry.js")))
    throw new Error("Home loaded no remote: this is not the page that was to be measured");
  await leavePortal(page); // the page is idle while it is not measured
}

/**
 * Goes to a page without the portal, in the same process: a process that starts with the navigation
 * is traced too late.
 */
async function leavePortal(page: Page): Promise<void> {
  await page.goto("/silent-renew.html");
}

/** Protects a secret, for a row with a menu. */
async function protectFirst(page: Page): Promise<void> {
  await page.goto("/home"); // back from the page without the portal
  await expect(page.getByRole("heading", { level: 1 })).toBeVisible();
  await protect(page, { text: "4711", title, tags: [], image: { file: photographs.mountains, passphrase: null } });
  await answerDeviceQuestion(page, "My own device");
  await leavePortal(page);
}

async function measureFirstClick(page: Page, { route, size, target, outcome }: Click): Promise<Interaction> {
  await page.setViewportSize(size);
  await page.goto(route);
  await moreButton(page).waitFor();
  await page.waitForLoadState("networkidle");
  const interaction = await measureClick(page, target(page), outcome(page));
  await leavePortal(page);
  return interaction;
}

/** Scripts of a new user's visit, after signing up, with the first tour. */
async function collectFirstVisit(browser: Browser, origin: string): Promise<Scripts> {
  const context = await browser.newContext({ baseURL: origin, locale: "en-GB", viewport: screen });
  const page = await context.newPage();
  let stopCollecting = collectScripts(page);
  page.on("request", (request) => {
    // only the last page counts
    if (request.isNavigationRequest() && request.frame() === page.mainFrame()) stopCollecting = collectScripts(page);
  });
  await disableCache(page);
  await signUpByHand(page, newAccount(), { tours: true });
  await page.getByRole("dialog").waitFor(); // the first step of the tour
  await page.waitForLoadState("networkidle");
  const scripts = await stopCollecting();
  await context.close();
  return scripts;
}

async function disableCache(page: Page): Promise<void> {
  const devtools = await page.context().newCDPSession(page);
  await devtools.send("Network.setCacheDisabled", { cacheDisabled: true });
}

/** Collects received scripts by path, those of workers (a release's assets) too. */
function collectScripts(page: Page): () => Promise<Scripts> {
  const responses: Response[] = [];
  const record = (response: Response) => responses.push(response);
  page.on("response", record);
  return async () => {
    page.off("response", record);
    const scripts = { page: new Map<string, number>(), workers: new Map<string, number>() };
    for (const response of responses) {
      const { pathname, protocol } = new URL(response.url());
      if (!protocol.startsWith("http") || !pathname.endsWith(".js") || !response.ok()) continue;
      scripts[pathname.includes("/assets/") ? "workers" : "page"].set(
        pathname,
        computeGzippedSize(await response.body()),
      );
    }
    return scripts;
  };
}

function summarizeClicks({ clicks: interactionsByClick }: Build) {
  const durations = (name: ClickName): number[] =>
    (interactionsByClick.get(name) ?? []).map(({ duration }) => duration);
  const clickFigures = (name: ClickName) => ({ median: median(durations(name)), max: Math.max(...durations(name)) });
  return {
    protectClick: clickFigures("protectClick"),
    rowMenuClick: clickFigures("rowMenuClick"),
    mobileMenuClick: clickFigures("mobileMenuClick"),
    logOutClick: clickFigures("logOutClick"),
  };
}

function summarizeTimes({ paints }: Build) {
  const shift = Math.max(...paints.map(({ layoutShift }) => layoutShift));
  return {
    largestContentfulPaint: roundFigure(median(paints.map(largestPaintOf))),
    layoutShift: shift < negligibleShift ? 0 : roundFigure(shift),
    totalBlockingTime: roundFigure(median(paints.map(({ totalBlockingTime }) => totalBlockingTime))),
    totalBlockingTimeMax: roundFigure(Math.max(...paints.map(({ totalBlockingTime }) => totalBlockingTime))),
    ownBlockingTime: roundFigure(median(paints.map(({ ownBlockingTime }) => ownBlockingTime))),
  };
}

async function summarizeBytes({ folder, scripts }: Build) {
  const builtScripts = await listAllScripts(folder);
  const entries = listRemotes(folder).map(
    (name) =>
      [
        name,
        builtScripts.find(({ file }) => file === findBuiltFile(folder, `/r/${name}/remoteEntry.js`))?.size ?? 0,
      ] as const,
  );
  return {
    homeScripts: sum(scripts.page.values()),
    homeScriptFiles: scripts.page.size,
    workerScripts: sum(scripts.workers.values()),
    remoteEntries: Object.fromEntries(entries),
  };
}

interface Sizes {
  readonly before?: number;
  readonly after: number;
}

/** Bytes by package, the largest of the new build first. */
async function comparePackages(
  builds: readonly Build[],
  measure: (build: Build) => Promise<ReadonlyMap<string, number>>,
): Promise<Readonly<Record<string, Sizes>>> {
  const sizesByBuild = await Promise.all(builds.map(measure));
  const [after, before] = sizesByBuild.toReversed();
  const names = new Set(sizesByBuild.toReversed().flatMap((sizes) => [...sizes.keys()]));
  const rows = [...names].map(
    (name) =>
      [
        name,
        { ...(before === undefined ? {} : { before: before.get(name) ?? 0 }), after: after?.get(name) ?? 0 },
      ] as const,
  );
  return Object.fromEntries(
    rows.filter(([, { before: oldSize = 0, after: newSize }]) => Math.max(oldSize, newSize) >= minPackageBytes),
  );
}

function largestPaintOf(paint: PaintFigures): number {
  return paint.largestContentfulPaint;
}

function median(numbers: readonly number[]): number {
  const sorted = numbers.toSorted((a, b) => a - b);
  const value = sorted[Math.floor(sorted.length / 2)];
  if (value === undefined) throw new TypeError("nothing was measured");
  return value;
}

function roundFigure(value: number): number {
  return Math.round(value * 1_000) / 1_000;
}

function sum(numbers: Iterable<number>): number {
  return [...numbers].reduce((total, value) => total + value, 0);
}

function printSizes(heading: string, sizes: ReadonlyMap<string, number>): void {
  console.log(`\n${heading}: ${String(sum(sizes.values()))}`);
  for (const [name, size] of [...sizes].toSorted(([, a], [, b]) => b - a))
    console.log(`${String(size).padStart(9)}  ${name}`);
}

function printPackages(heading: string, packages: Readonly<Record<string, Sizes>>): void {
  console.log(`\n${heading}, after gzip, those of at least ${String(minPackageBytes)}\n   before    after`);
  for (const [name, { before, after }] of Object.entries(packages))
    console.log(`${(before === undefined ? "" : String(before)).padStart(9)}${String(after).padStart(9)}  ${name}`);
}

/** Prints every reading: a median hides outliers. */
function printTimes({ folder, paints, clicks: interactionsByClick }: Build): void {
  console.log(`\nReadings of ${folder === ownFolder ? "this build" : "the old build"}, milliseconds`);
  const printReadings = (name: string, readings: readonly number[]) =>
    console.log(`  ${name.padEnd(24)}${readings.map((reading) => reading.toFixed(0)).join(" ")}`);
  printReadings("largest paint", paints.map(largestPaintOf));
  printReadings(
    "blocking",
    paints.map(({ totalBlockingTime }) => totalBlockingTime),
  );
  printReadings(
    "blocking, own time",
    paints.map(({ ownBlockingTime }) => ownBlockingTime),
  );
  console.log(`  ${"layout shift".padEnd(24)}${paints.map(({ layoutShift }) => layoutShift.toFixed(4)).join(" ")}`);
  for (const [name, interactions] of interactionsByClick) {
    if (interactions.length === 0) continue; // of the old build
    printReadings(
      name,
      interactions.map(({ duration }) => duration),
    );
    console.log(
      `  ${"  waited + handled".padEnd(24)}${interactions.map(({ inputDelay, processingTime }) => `${inputDelay.toFixed(0)}+${processingTime.toFixed(0)}`).join(" ")}`,
    );
  }
}
