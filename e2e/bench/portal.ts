/**
 * Measures what separate releases cost: `pnpm bench:portal [visits] [rounds]`, by default five and
 * twenty. Compares the portal, in turns, with the same sources as one webpack application without
 * federation, once with the used parts of shared packages and once with whole packages
 * (tooling/src/bundle/monolith.ts). Cold: empty browser cache; warm: a reload. Each with and
 * without a line of 1.6 Mbit/s and 150 ms. A user with one secret opens Home, which a remote draws.
 *
 * - Bytes: received, headers included, until Home's heading is painted.
 * - Round trips: the longest chain of requests, each sent after the previous response.
 * - Times: medians.
 * - Heap: the page's, after garbage collection, after each round over all routes. Growth is judged
 *   without compiled code, which V8 keeps for frequent functions in any application; growth with it
 *   is reported too.
 *
 * The last line is JSON; fails when a limit is missed.
 */
import { loadavg, tmpdir } from "node:os";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { join } from "node:path";

import { chromium, type Browser, type Page } from "@playwright/test";
import { buildMonolith } from "@relicario/tooling/monolith";
import { startPortal } from "@relicario/tooling/portal";
import { z } from "zod";

import { newAccount, signUp } from "../pages/account.ts";
import { answerDeviceQuestion, protect } from "../pages/secrets.ts";
import { createLaunchOptions } from "../support/browser.ts";
import { photographs } from "../support/photographs.ts";
import { measureRetainedBytes } from "./heap.ts";
import { measureClick, recordEvents } from "./interaction.ts";
import { readPaintFigures } from "./trace.ts";

/**
 * Bytes and largest paint, as ratios to the application with used packages; round trips; growth of
 * retained bytes (without compiled code), elements and listeners, as fractions.
 */
const limits = {
  transferRatio: 1.15,
  lcpRatio: 1.1,
  roundTrips: 4,
  heapGrowth: 0.05,
  nodeGrowth: 0.05,
  listenerGrowth: 0.05,
} as const;

const slowNetwork = {
  offline: false,
  latency: 150,
  downloadThroughput: 1_600_000 / 8,
  uploadThroughput: 1_600_000 / 8,
} as const;
const unlimitedNetwork = { offline: false, latency: 0, downloadThroughput: -1, uploadThroughput: -1 } as const;
const Count = z.coerce.number().int().min(2);
const [visitsArgument, roundsArgument] = process.argv.slice(2).filter((word) => word !== "--");
const visitCount = Count.default(5).parse(visitsArgument);
const roundCount = Count.default(20).parse(roundsArgument);
const Manifest = z.object({ routes: z.array(z.object({ path: z.string() })) });
const root = join(import.meta.dirname, "../..");

const builds = ["portal", "used", "whole"] as const;
type BuildName = (typeof builds)[number];
const visitKinds = ["cold, 1.6 Mbit/s", "warm, 1.6 Mbit/s", "cold", "warm"] as const;
type VisitKind = (typeof visitKinds)[number];

interface Visit {
  readonly kilobytes: number;
  readonly requests: number;
  readonly roundTrips: number;
  readonly firstRemotePaint: number;
  readonly lcp: number;
  readonly cls: number;
  readonly tbt: number;
}

interface RunningBuild {
  readonly page: Page;
  readonly secretId: string;
  readonly visits: Readonly<Record<VisitKind, Visit[]>>;
  readonly clicks: number[];
  readonly firstRoute: number[];
  readonly routeAgain: number[];
  heap: readonly HeapSample[];
}

/** MB in use; elements and listeners, detached ones too. */
interface HeapSample {
  readonly nodes: number;
  readonly listeners: number;
  readonly all: number;
  /** Without compiled code; only in compared rounds. */
  readonly retained: number;
}

const cleanups: (() => Promise<unknown>)[] = [];
try {
  const folder = await mkdtemp(join(tmpdir(), "relicario-bench-"));
  cleanups.push(() => rm(folder, { recursive: true, force: true }));
  const browser = await chromium.launch(createLaunchOptions());
  cleanups.push(() => browser.close());
  process.exitCode = (await bench(browser, folder)) ? 0 : 1;
} finally {
  for (const cleanup of cleanups.reverse()) await cleanup();
}

async function bench(browser: Browser, folder: string): Promise<boolean> {
  const runningBuilds = {} as Record<BuildName, RunningBuild>;
  for (const name of builds) runningBuilds[name] = await openBuild(browser, name, folder);
  const allBuilds = builds.map((name) => runningBuilds[name]);
  const load = [loadavg()[0] ?? 0];

  for (const visitKind of visitKinds)
    for (let round = 0; round < visitCount; round += 1)
      for (const build of allBuilds) build.visits[visitKind].push(await visit(build, visitKind));
  for (let round = 0; round < visitCount; round += 1) for (const build of allBuilds) await measureRouteChanges(build);
  for (const build of allBuilds) build.heap = await measureRounds(build, await listAllPaths(build));
  load.push(loadavg()[0] ?? 0);

  const figures = Object.fromEntries(builds.map((name) => [name, summarize(runningBuilds[name])]));
  const coldVisit = (name: BuildName): Visit => medianVisit(runningBuilds[name].visits["cold, 1.6 Mbit/s"]);
  const ratio = (metric: "kilobytes" | "lcp", baseline: BuildName): number =>
    coldVisit("portal")[metric] / coldVisit(baseline)[metric];
  const ratios = {
    transferRatio: ratio("kilobytes", "used"),
    transferRatioWhole: ratio("kilobytes", "whole"),
    lcpRatio: ratio("lcp", "used"),
    lcpRatioWhole: ratio("lcp", "whole"),
    roundTrips: coldVisit("portal").roundTrips,
    heapGrowth: computeGrowth(runningBuilds.portal.heap, "retained"),
    nodeGrowth: computeGrowth(runningBuilds.portal.heap, "nodes"),
    listenerGrowth: computeGrowth(runningBuilds.portal.heap, "listeners"),
    heapGrowthWithCode: computeGrowth(runningBuilds.portal.heap, "all"),
    heapGrowthWithCodeOfOne: computeGrowth(runningBuilds.used.heap, "all"),
  };
  const ok = Object.entries(limits).every(([name, limit]) => ratios[name as keyof typeof limits] <= limit);
  for (const visitKind of visitKinds) {
    console.log(`\n${visitKind.padEnd(20)}kB    requests  trips  remote ms   LCP ms     CLS  TBT ms`);
    for (const name of builds) {
      const { kilobytes, requests, roundTrips, firstRemotePaint, lcp, cls, tbt } = medianVisit(
        runningBuilds[name].visits[visitKind],
      );
      console.log(
        `${name.padEnd(14)}${kilobytes.toFixed(1).padStart(9)}${requests.toFixed(0).padStart(11)}${roundTrips.toFixed(0).padStart(7)}${firstRemotePaint.toFixed(0).padStart(11)}${lcp.toFixed(0).padStart(9)}${cls.toFixed(3).padStart(8)}${tbt.toFixed(0).padStart(8)}`,
      );
    }
  }
  for (const name of builds) {
    const { clicks, firstRoute, routeAgain, heap } = runningBuilds[name];
    console.log(
      `${name.padEnd(14)}click to paint ${median(clicks).toFixed(0)} ms; to Settings ${median(firstRoute).toFixed(0)} ms, again ${median(routeAgain).toFixed(0)}; heap ${heap.map(({ all }) => all.toFixed(1)).join(" ")} MB; without compiled code from ${(heap[1]?.retained ?? NaN).toFixed(2)} to ${(heap.at(-1)?.retained ?? NaN).toFixed(2)}; nodes ${formatRange(heap, "nodes")}, listeners ${formatRange(heap, "listeners")}`,
    );
  }
  console.log(JSON.stringify({ bench: "portal", ok, ratios, limits, figures, load }));
  return ok;
}

/** Starts a build, and protects one secret. */
async function openBuild(browser: Browser, name: BuildName, folder: string): Promise<RunningBuild> {
  const target = join(folder, `${name}-host`);
  const startBuild = async () =>
    startPortal({
      port: 0,
      dataDir: join(folder, name),
      log: console.log,
      ...(name !== "portal" && { environment: { gateway: { HOST_FOLDER: target } } }),
    });
  if (name !== "portal") await buildMonolith({ sharedPackages: name, targetFolder: target });
  const runningPortal = await startBuild();
  cleanups.push(() => runningPortal.stop());
  const context = await browser.newContext({
    baseURL: runningPortal.origin,
    locale: "en-GB",
    viewport: { width: 1280, height: 900 },
    reducedMotion: "reduce",
  });
  cleanups.push(() => context.close());
  const page = await context.newPage();
  await recordEvents(page);
  await page.addInitScript(() => {
    const checkHeading = (): void => {
      const heading = document.querySelector("main h1");
      if (heading?.textContent.startsWith("Hello") === true) performance.mark("remote-painted");
      else requestAnimationFrame(checkHeading);
    };
    requestAnimationFrame(checkHeading);
  });
  await signUp(page, newAccount());
  const storeRequest = page.waitForRequest(
    (request) => request.method() === "POST" && request.url().endsWith("/secrets/store"),
  );
  await protect(page, {
    text: "4711",
    title: "House keys",
    tags: [],
    image: { file: photographs.mountains, passphrase: null },
  });
  const { secret_db_id: secretId } = z.object({ secret_db_id: z.string() }).parse((await storeRequest).postDataJSON());
  await answerDeviceQuestion(page, "My own device");
  return {
    page,
    secretId,
    visits: { "cold, 1.6 Mbit/s": [], "warm, 1.6 Mbit/s": [], cold: [], warm: [] },
    clicks: [],
    firstRoute: [],
    routeAgain: [],
    heap: [],
  };
}

/**
 * Goes to a page without the portal, in the same process: a process that starts with the navigation
 * is traced too late.
 */
async function leavePortal(page: Page): Promise<void> {
  await page.goto("/silent-renew.html");
}

interface Request {
  readonly sentAt: number;
  answeredAt: number;
}

async function visit({ page }: RunningBuild, visitKind: VisitKind): Promise<Visit> {
  await leavePortal(page);
  const devtools = await page.context().newCDPSession(page);
  await devtools.send("Network.enable");
  if (visitKind.startsWith("cold")) await devtools.send("Network.clearBrowserCache");
  await devtools.send("Network.emulateNetworkConditions", visitKind.includes("Mbit") ? slowNetwork : unlimitedNetwork);
  const requests: Request[] = [];
  const pendingRequests = new Map<string, Request>();
  const received: { readonly receivedAt: number; readonly bytes: number }[] = [];
  let clockOffsetSeconds = 0; // of the browser's monotonic clock
  devtools.on("Network.requestWillBeSent", ({ requestId, timestamp, wallTime, redirectResponse, request }) => {
    if (!request.url.startsWith("http")) return;
    clockOffsetSeconds = wallTime - timestamp;
    if (redirectResponse !== undefined) {
      const previousRequest = pendingRequests.get(requestId);
      if (previousRequest !== undefined) previousRequest.answeredAt = timestamp;
      received.push({ receivedAt: timestamp, bytes: redirectResponse.encodedDataLength });
    }
    const pendingStart = { sentAt: timestamp, answeredAt: Infinity };
    pendingRequests.set(requestId, pendingStart);
    requests.push(pendingStart);
  });
  devtools.on("Network.responseReceived", ({ requestId, timestamp, response }) => {
    const pendingRequest = pendingRequests.get(requestId);
    if (pendingRequest === undefined) return;
    pendingRequest.answeredAt = timestamp;
    received.push({ receivedAt: timestamp, bytes: response.fromDiskCache === true ? 0 : response.encodedDataLength });
  });
  devtools.on("Network.dataReceived", ({ requestId, timestamp, encodedDataLength }) => {
    if (pendingRequests.has(requestId)) received.push({ receivedAt: timestamp, bytes: encodedDataLength });
  });
  devtools.on("Network.loadingFinished", ({ requestId, timestamp }) => {
    const pendingRequest = pendingRequests.get(requestId);
    if (pendingRequest !== undefined) pendingRequest.answeredAt = timestamp;
  });
  const browser = page.context().browser();
  await browser?.startTracing(page, { categories: ["blink.user_timing", "loading", "devtools.timeline", "toplevel"] });
  await page.goto("/home");
  await page.getByRole("heading", { level: 1, name: /^Hello/ }).waitFor({ timeout: 90_000 });
  await page.waitForLoadState("networkidle");
  const trace = await browser?.stopTracing();
  if (trace === undefined) throw new TypeError("this page has no browser");
  await devtools.detach(); // removes its network limits
  const paintTimes = await page.evaluate(() => ({
    after: performance.getEntriesByName("remote-painted")[0]?.startTime ?? NaN,
    origin: performance.timeOrigin,
  }));
  const paintedAt = (paintTimes.origin + paintTimes.after) / 1000 - clockOffsetSeconds;
  const requestsBeforePaint = requests.filter(({ sentAt }) => sentAt < paintedAt);
  const paints = readPaintFigures(trace);
  return {
    kilobytes: received.reduce((sum, { receivedAt, bytes }) => sum + (receivedAt <= paintedAt ? bytes : 0), 0) / 1000,
    requests: requestsBeforePaint.length,
    roundTrips: longestChain(requestsBeforePaint.filter(({ answeredAt }) => answeredAt <= paintedAt)),
    firstRemotePaint: paintTimes.after,
    lcp: paints.largestContentfulPaint,
    cls: paints.layoutShift,
    tbt: paints.totalBlockingTime,
  };
}

/** Longest chain of requests, each sent after the previous response. */
function longestChain(requests: readonly Request[]): number {
  let lastAnsweredAt = -Infinity;
  let count = 0;
  for (const { sentAt, answeredAt } of requests.toSorted((a, b) => a.answeredAt - b.answeredAt)) {
    if (sentAt < lastAnsweredAt) continue;
    lastAnsweredAt = answeredAt;
    count += 1;
  }
  return count;
}

/** Times a click, a route change that loads code, and the same change again. */
async function measureRouteChanges(build: RunningBuild): Promise<void> {
  const { page } = build;
  await leavePortal(page);
  await page.goto("/home");
  await page.getByRole("heading", { level: 1, name: /^Hello/ }).waitFor();
  await page.waitForLoadState("networkidle");
  const outcome = page.getByRole("heading", { level: 1, name: "Protect a secret" });
  build.clicks.push(
    (await measureClick(page, page.getByRole("main").getByRole("link", { name: "Protect a secret" }), outcome))
      .duration,
  );
  build.firstRoute.push(await timeNavigation(page, "/settings/profile", "Profile"));
  await timeNavigation(page, "/home", "Hello");
  build.routeAgain.push(await timeNavigation(page, "/settings/profile", "Profile"));
}

/** Changes the route as the browser's buttons do; milliseconds until a frame shows the heading. */
async function timeNavigation(page: Page, path: string, heading: string): Promise<number> {
  return page.evaluate(
    async ([to, title]) => {
      const startedAt = performance.now();
      history.pushState(null, "", to);
      dispatchEvent(new PopStateEvent("popstate", { state: null }));
      const isShown = (): boolean =>
        location.pathname === to && document.querySelector("main h1")?.textContent.startsWith(title) === true;
      do await new Promise(requestAnimationFrame);
      while (!isShown());
      return performance.now() - startedAt;
    },
    [path, heading] as const,
  );
}

/** Paths of the signed manifests; links get an unknown id. */
async function listAllPaths({ secretId }: RunningBuild): Promise<readonly string[]> {
  const manifests = await Promise.all(
    ["secrets", "sharing", "recovery", "settings"].map(async (name) =>
      Manifest.parse(JSON.parse(await readFile(join(root, `remote-${name}/manifest.json`), "utf8"))),
    ),
  );
  const missingId = "A".repeat(22);
  return manifests.flatMap(({ routes }) =>
    routes
      .filter(({ path }) => !path.endsWith("*"))
      .map(({ path }) => path.replace(":secretId", secretId).replace(/:(shareId|requestId)/, missingId)),
  );
}

async function measureRounds(build: RunningBuild, paths: readonly string[]): Promise<readonly HeapSample[]> {
  const { page } = build;
  const devtools = await page.context().newCDPSession(page);
  await leavePortal(page);
  await page.goto("/home");
  await page.waitForLoadState("networkidle");
  const samples: HeapSample[] = [];
  for (let round = 0; round < roundCount; round += 1) {
    for (const path of paths) {
      await page.evaluate((to) => {
        history.pushState(null, "", to);
        dispatchEvent(new PopStateEvent("popstate", { state: null }));
      }, path);
      await page.locator("main h1").first().waitFor();
      await page.evaluate(() => new Promise((frame) => requestAnimationFrame(() => requestAnimationFrame(frame))));
    }
    await page.waitForLoadState("networkidle");
    await devtools.send("HeapProfiler.collectGarbage");
    const { usedSize } = await devtools.send("Runtime.getHeapUsage");
    const { nodes, jsEventListeners: listeners } = await devtools.send("Memory.getDOMCounters");
    samples.push({
      nodes,
      listeners,
      all: usedSize / 1_000_000,
      retained: round === 1 || round === roundCount - 1 ? (await measureRetainedBytes(devtools)) / 1_000_000 : NaN,
    });
  }
  return samples;
}

/** Growth from the second round, when all code is loaded, to the last. */
function computeGrowth(samples: readonly HeapSample[], key: keyof HeapSample): number {
  return (samples.at(-1)?.[key] ?? NaN) / (samples[1]?.[key] ?? NaN) - 1;
}

function formatRange(samples: readonly HeapSample[], key: "nodes" | "listeners"): string {
  return `${String(samples[1]?.[key] ?? NaN)} to ${String(samples.at(-1)?.[key] ?? NaN)}`;
}

function summarize({ visits: visitsByKind, clicks, firstRoute, routeAgain, heap }: RunningBuild) {
  return {
    ...Object.fromEntries(visitKinds.map((visitKind) => [visitKind, medianVisit(visitsByKind[visitKind])])),
    inp: median(clicks),
    firstRoute: median(firstRoute),
    routeAgain: median(routeAgain),
    heap,
  };
}

function medianVisit(visitsOfKind: readonly Visit[]): Visit {
  const medianOf = (name: keyof Visit): number => median(visitsOfKind.map((sample) => sample[name]));
  return {
    kilobytes: medianOf("kilobytes"),
    requests: medianOf("requests"),
    roundTrips: medianOf("roundTrips"),
    firstRemotePaint: medianOf("firstRemotePaint"),
    lcp: medianOf("lcp"),
    cls: medianOf("cls"),
    tbt: medianOf("tbt"),
  };
}

function median(numbers: readonly number[]): number {
  return numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? NaN;
}
