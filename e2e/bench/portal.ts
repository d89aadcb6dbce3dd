/**
 * What separate releases cost: `pnpm bench:portal [visits] [rounds]`, five and twenty unless told.
 * The same sources also as one plain webpack application, without federation, with what is used of
 * the shared packages and with all of them (tooling/src/bundle/monolith.ts); each as a
 * portal of its own, the same browser, in turns. Cold: nothing in the browser's cache; warm: as a
 * reload finds it. With and without a line of 1.6 Mbit/s with 150 ms. One person with one secret
 * opens Home, whose screen a remote draws. Bytes are those that the network received, headers too,
 * until that screen's heading is painted. Round trips are the longest chain of requests until then
 * of which each was sent after the one before was answered: never fewer than depend on each other.
 * Times are medians; the heap is the page's, after collecting, at the end of each round over all
 * routes. What grows is judged without the code that V8 compiles: it goes on compiling what runs
 * often, in one application as in many, and drops nothing of it; with it the growth is told beside.
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
import { chromiumArguments } from "../support/browser.ts";
import { photographs } from "../support/photographs.ts";
import { measureRetainedBytes } from "./heap.ts";
import { measureClick, recordEvents } from "./interaction.ts";
import { paintFigures } from "./trace.ts";

/**
 * Of the portal by the application with used, and with whole packages: bytes and largest paint;
 * round trips; growth of what the page holds (without compiled code), of its elements and of its
 * listeners, in parts of them.
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
const visits = Count.default(5).parse(visitsArgument);
const rounds = Count.default(20).parse(roundsArgument);
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
  /** The one secret. */
  readonly secretId: string;
  readonly visits: Readonly<Record<VisitKind, Visit[]>>;
  readonly clicks: number[];
  readonly firstRoute: number[];
  readonly routeAgain: number[];
  heap: readonly HeapSample[];
}

/** MB in use, and how many elements and listeners the page has, detached ones too. */
interface HeapSample {
  readonly nodes: number;
  readonly listeners: number;
  readonly all: number;
  /** Without compiled code and what belongs to it; only of the rounds that growth is told of. */
  readonly retained: number;
}

const cleanups: (() => Promise<unknown>)[] = [];
try {
  const folder = await mkdtemp(join(tmpdir(), "relicario-bench-"));
  cleanups.push(() => rm(folder, { recursive: true, force: true }));
  const browser = await chromium.launch(chromiumArguments());
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
    for (let round = 0; round < visits; round += 1)
      for (const build of allBuilds) build.visits[visitKind].push(await visit(build, visitKind));
  for (let round = 0; round < visits; round += 1) for (const build of allBuilds) await measureRouteChanges(build);
  for (const build of allBuilds) build.heap = await measureRounds(build, await allPaths(build));
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
    heapGrowth: growth(runningBuilds.portal.heap, "retained"),
    nodeGrowth: growth(runningBuilds.portal.heap, "nodes"),
    listenerGrowth: growth(runningBuilds.portal.heap, "listeners"),
    heapGrowthWithCode: growth(runningBuilds.portal.heap, "all"),
    heapGrowthWithCodeOfOne: growth(runningBuilds.used.heap, "all"),
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

/** Starts one of the three, with an account that keeps one secret. */
async function openBuild(browser: Browser, name: BuildName, folder: string): Promise<RunningBuild> {
  const target = join(folder, `${name}-host`);
  const startBuild = async () =>
    startPortal({
      port: 0,
      dataDir: join(folder, name),
      log: console.log,
      ...(name !== "portal" && { environment: { gateway: { HOST_FOLDER: target } } }),
    });
  if (name !== "portal") await buildMonolith({ packages: name, target });
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
  const storing = page.waitForRequest(
    (request) => request.method() === "POST" && request.url().endsWith("/secrets/store"),
  );
  await protect(page, {
    text: "4711",
    title: "House keys",
    tags: [],
    image: { file: photographs.mountains, passphrase: null },
  });
  const { secret_db_id: secretId } = z.object({ secret_db_id: z.string() }).parse((await storing).postDataJSON());
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
 * To a page that is no portal, but of its process: one that starts with the navigation is traced
 * too late.
 */
async function leavePortal(page: Page): Promise<void> {
  await page.goto("/silent-renew.html");
}

interface Request {
  readonly sent: number;
  answered: number;
}

/** Goes home, as somebody who is signed in. */
async function visit({ page }: RunningBuild, visitKind: VisitKind): Promise<Visit> {
  await leavePortal(page);
  const devtools = await page.context().newCDPSession(page);
  await devtools.send("Network.enable");
  if (visitKind.startsWith("cold")) await devtools.send("Network.clearBrowserCache");
  await devtools.send("Network.emulateNetworkConditions", visitKind.includes("Mbit") ? slowNetwork : unlimitedNetwork);
  const requests: Request[] = [];
  const pendingRequests = new Map<string, Request>();
  const received: { readonly receivedAt: number; readonly bytes: number }[] = [];
  let clockOffset = 0; // of the browser's monotonic clock, in seconds
  devtools.on("Network.requestWillBeSent", ({ requestId, timestamp, wallTime, redirectResponse, request }) => {
    if (!request.url.startsWith("http")) return;
    clockOffset = wallTime - timestamp;
    if (redirectResponse !== undefined) {
      const previousRequest = pendingRequests.get(requestId);
      if (previousRequest !== undefined) previousRequest.answered = timestamp;
      received.push({ receivedAt: timestamp, bytes: redirectResponse.encodedDataLength });
    }
    const pendingStart = { sent: timestamp, answered: Infinity };
    pendingRequests.set(requestId, pendingStart);
    requests.push(pendingStart);
  });
  devtools.on("Network.responseReceived", ({ requestId, timestamp, response }) => {
    const pendingRequest = pendingRequests.get(requestId);
    if (pendingRequest === undefined) return;
    pendingRequest.answered = timestamp;
    received.push({ receivedAt: timestamp, bytes: response.fromDiskCache === true ? 0 : response.encodedDataLength });
  });
  devtools.on("Network.dataReceived", ({ requestId, timestamp, encodedDataLength }) => {
    if (pendingRequests.has(requestId)) received.push({ receivedAt: timestamp, bytes: encodedDataLength });
  });
  devtools.on("Network.loadingFinished", ({ requestId, timestamp }) => {
    const pendingRequest = pendingRequests.get(requestId);
    if (pendingRequest !== undefined) pendingRequest.answered = timestamp;
  });
  const browser = page.context().browser();
  await browser?.startTracing(page, { categories: ["blink.user_timing", "loading", "devtools.timeline", "toplevel"] });
  await page.goto("/home");
  await page.getByRole("heading", { level: 1, name: /^Hello/ }).waitFor({ timeout: 90_000 });
  await page.waitForLoadState("networkidle");
  const trace = await browser?.stopTracing();
  if (trace === undefined) throw new TypeError("this page has no browser");
  await devtools.detach(); // its limits end with it
  const paintTimes = await page.evaluate(() => ({
    after: performance.getEntriesByName("remote-painted")[0]?.startTime ?? NaN,
    origin: performance.timeOrigin,
  }));
  const paintedAt = (paintTimes.origin + paintTimes.after) / 1000 - clockOffset;
  const requestsBeforePaint = requests.filter(({ sent }) => sent < paintedAt);
  const paints = paintFigures(trace);
  return {
    kilobytes: received.reduce((sum, { receivedAt, bytes }) => sum + (receivedAt <= paintedAt ? bytes : 0), 0) / 1000,
    requests: requestsBeforePaint.length,
    roundTrips: longestChain(requestsBeforePaint.filter(({ answered }) => answered <= paintedAt)),
    firstRemotePaint: paintTimes.after,
    lcp: paints.largestContentfulPaint,
    cls: paints.layoutShift,
    tbt: paints.totalBlockingTime,
  };
}

/**
 * How many requests at most came one after the other, each sent once the one before was answered.
 */
function longestChain(requests: readonly Request[]): number {
  let lastAnswered = -Infinity;
  let count = 0;
  for (const { sent, answered } of requests.toSorted((a, b) => a.answered - b.answered)) {
    if (sent < lastAnswered) continue;
    lastAnswered = answered;
    count += 1;
  }
  return count;
}

/**
 * From a click on the navigation to the next screen: one whose code was not loaded yet, and the
 * same once more. Also the click itself.
 */
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

/**
 * Goes there inside the page, as its router does for the browser's buttons; milliseconds until a
 * frame has the screen's heading.
 */
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

/** Paths of the signed manifests; what opens a link is shown a link to nothing. */
async function allPaths({ secretId }: RunningBuild): Promise<readonly string[]> {
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

/** MB of heap in use after each round over all routes. */
async function measureRounds(build: RunningBuild, paths: readonly string[]): Promise<readonly HeapSample[]> {
  const { page } = build;
  const devtools = await page.context().newCDPSession(page);
  await leavePortal(page);
  await page.goto("/home");
  await page.waitForLoadState("networkidle");
  const sizes: HeapSample[] = [];
  for (let round = 0; round < rounds; round += 1) {
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
    sizes.push({
      nodes,
      listeners,
      all: usedSize / 1_000_000,
      retained: round === 1 || round === rounds - 1 ? (await measureRetainedBytes(devtools)) / 1_000_000 : NaN,
    });
  }
  return sizes;
}

/** From the second round, when all code is there, to the last. */
function growth(sizes: readonly HeapSample[], key: keyof HeapSample): number {
  return (sizes.at(-1)?.[key] ?? NaN) / (sizes[1]?.[key] ?? NaN) - 1;
}

function formatRange(sizes: readonly HeapSample[], key: "nodes" | "listeners"): string {
  return `${String(sizes[1]?.[key] ?? NaN)} to ${String(sizes.at(-1)?.[key] ?? NaN)}`;
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
