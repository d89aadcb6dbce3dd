/**
 * How fast the built portal comes to Home: `pnpm bench:shell`. Starts the whole portal with data of its own, signs up, empties
 * the browser's cache and navigates to /home in headless Chromium; paint, shifts and long tasks are read from the browser's
 * trace, sizes from the scripts that it received, compressed anew with gzip, so that the figure does not depend on what the
 * gateway chose. `homeScripts`, with the limit, are those of somebody who is signed in and has seen the tours; of somebody who
 * just signed up, `newAccountScripts` are all since the provider sent them back, with signing in and the first tour. The last line is JSON; the exit code is not zero when a limit is missed.
 */
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { gzipSync } from "node:zlib";

import { chromium, type Browser, type Page, type Response } from "@playwright/test";
import { startPortal } from "@relicario/tooling/portal";

import { createAccount, newAccount, signUp } from "../pages/account.ts";
import { chromiumArguments } from "../support/browser.ts";
import { paintFigures } from "./trace.ts";

/** Milliseconds, layout shift without unit, bytes after gzip. */
const limits = {
  largestContentfulPaint: 2_500,
  layoutShift: 0.02,
  totalBlockingTime: 300,
  homeScripts: 230_000,
  remoteEntry: 8_000,
} as const;

/** The page is measured so often, and the middle one of each figure taken: this machine does other things, too. */
const runs = 3;

interface Scripts {
  readonly page: ReadonlyMap<string, number>;
  readonly workers: ReadonlyMap<string, number>;
}

const dataDir = await mkdtemp(path.join(tmpdir(), "relicario-bench-"));
const portal = await startPortal({ port: 0, dataDir, log: (line) => console.log(line) });
const browser = await chromium.launch({ ...chromiumArguments(), headless: true });
let ok = false;
try {
  ok = await bench(browser, portal.origin);
} finally {
  await browser.close();
  await portal.stop();
  await rm(dataDir, { recursive: true, force: true });
}
process.exitCode = ok ? 0 : 1;

async function bench(browser: Browser, origin: string): Promise<boolean> {
  const context = await browser.newContext({ baseURL: origin, locale: "en-GB", viewport: { width: 1280, height: 900 } });
  const page = await context.newPage();
  await signUp(page, newAccount());
  const devtools = await context.newCDPSession(page);
  await devtools.send("Network.setCacheDisabled", { cacheDisabled: true });

  const paints = [];
  let scripts: Scripts = { page: new Map(), workers: new Map() };
  for (let run = 0; run < runs; run += 1) {
    await page.goto("/silent-renew.html"); // no portal, but its process: one that starts with the navigation is traced too late
    const received = collectScripts(page);
    await browser.startTracing(page, { categories: ["blink.user_timing", "loading", "devtools.timeline", "toplevel"] });
    await goHome(page);
    paints.push(paintFigures(await browser.stopTracing()));
    scripts = await received();
  }
  await context.close();
  const first = await firstVisit(browser, origin);

  const entries = [...scripts.page].filter(([name]) => name.endsWith("/remoteEntry.js"));
  const remoteEntries = await allRemoteEntries();
  const figures = {
    largestContentfulPaint: middle(paints.map((paint) => paint.largestContentfulPaint)),
    layoutShift: middle(paints.map((paint) => paint.layoutShift)),
    totalBlockingTime: middle(paints.map((paint) => paint.totalBlockingTime)),
    homeScripts: sum(scripts.page.values()),
    homeScriptFiles: scripts.page.size,
    newAccountScripts: sum(first.page.values()),
    workerScripts: sum(scripts.workers.values()),
    ...remoteEntries,
  };
  show("Scripts of the page, bytes after gzip", scripts.page);
  show("Scripts of the page of a new account, bytes after gzip", first.page);
  show("Scripts of workers, bytes after gzip", scripts.workers);
  if (entries.length === 0) throw new Error("Home loaded no remote: this is not the page that was to be measured");

  const missed = [
    ...(["largestContentfulPaint", "layoutShift", "totalBlockingTime", "homeScripts"] as const).filter((name) => figures[name] >= limits[name]),
    ...Object.entries(remoteEntries).filter(([, size]) => size >= limits.remoteEntry).map(([name]) => name),
  ];
  for (const name of missed) console.log(`over the limit: ${name}`);
  console.log(JSON.stringify({ bench: "shell", ok: missed.length === 0, figures, limits }));
  return missed.length === 0;
}

/** Everything that the page loads for somebody who comes back from signing up, and is shown round. */
async function firstVisit(browser: Browser, origin: string): Promise<Scripts> {
  const context = await browser.newContext({ baseURL: origin, locale: "en-GB", viewport: { width: 1280, height: 900 } });
  const page = await context.newPage();
  let received = collectScripts(page);
  page.on("request", (request) => {
    if (request.isNavigationRequest() && request.frame() === page.mainFrame()) received = collectScripts(page); // the last page counts
  });
  const devtools = await context.newCDPSession(page);
  await devtools.send("Network.setCacheDisabled", { cacheDisabled: true });
  await createAccount(page, newAccount(), { tours: true });
  await page.getByRole("dialog").waitFor(); // the first step of the tour
  await page.waitForLoadState("networkidle");
  const scripts = await received();
  await context.close();
  return scripts;
}

/** Goes home as somebody who is signed in, until everything that Home asks for has come. */
async function goHome(page: Page): Promise<void> {
  await page.goto("/home");
  await page.getByRole("heading", { level: 1, name: /hello/i }).waitFor();
  await page.getByRole("heading", { name: "How it works" }).waitFor();
  await page.waitForLoadState("networkidle");
}

/** Scripts that a page receives, by path: those that run in it, and those that it fetches for its workers. */
function collectScripts(page: Page): () => Promise<Scripts> {
  const responses: Response[] = [];
  const note = (response: Response) => responses.push(response);
  page.on("response", note);
  return async () => {
    page.off("response", note);
    const scripts = { page: new Map<string, number>(), workers: new Map<string, number>() };
    for (const response of responses) {
      const { pathname, protocol } = new URL(response.url());
      if (!protocol.startsWith("http") || !pathname.endsWith(".js") || !response.ok()) continue;
      const fetched = response.request().resourceType() !== "script";
      scripts[fetched ? "workers" : "page"].set(pathname, gzipped(await response.body()));
    }
    return scripts;
  };
}

/** The entries of all four remotes, loaded at Home or not. */
async function allRemoteEntries(): Promise<Record<`remoteEntry_${string}`, number>> {
  const sizes: Record<string, number> = {};
  for (const name of ["secrets", "sharing", "recovery", "settings"]) {
    const file = new URL(`../../remote-${name}/build/web/remoteEntry.js`, import.meta.url);
    sizes[`remoteEntry_${name}`] = gzipped(await readFile(file));
  }
  return sizes;
}

function gzipped(bytes: Buffer): number {
  return gzipSync(bytes, { level: 9 }).length;
}

function middle(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const value = sorted[Math.floor(sorted.length / 2)];
  if (value === undefined) throw new TypeError("nothing was measured");
  return Math.round(value * 10_000) / 10_000;
}

function sum(values: Iterable<number>): number {
  return [...values].reduce((total, value) => total + value, 0);
}

function show(title: string, sizes: ReadonlyMap<string, number>): void {
  console.log(`\n${title}: ${String(sum(sizes.values()))}`);
  for (const [name, size] of [...sizes].toSorted(([, a], [, b]) => b - a)) console.log(`${String(size).padStart(9)}  ${name}`);
}
