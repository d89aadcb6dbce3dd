/**
 * What separate releases cost: `pnpm bench:portal [visits] [rounds]`, five and twenty unless told.
 * The same sources also as one plain webpack application, without federation, with what is used of
 * the shared packages and with all of them (tooling/src/bundle/one-application.ts); each as a
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
import { buildOneApplication } from "@relicario/tooling/one-application";
import { startPortal } from "@relicario/tooling/portal";
import { z } from "zod";

import { newAccount, signUp } from "../pages/account.ts";
import { answerDevice, protect } from "../pages/secrets.ts";
import { chromiumArguments } from "../support/browser.ts";
import { photographs } from "../support/photographs.ts";
import { heldBytes } from "./heap.ts";
import { measureClick, noteEvents } from "./interaction.ts";
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

const line = {
  offline: false,
  latency: 150,
  downloadThroughput: 1_600_000 / 8,
  uploadThroughput: 1_600_000 / 8,
} as const;
const noLimit = { offline: false, latency: 0, downloadThroughput: -1, uploadThroughput: -1 } as const;
const Count = z.coerce.number().int().min(2);
const [asked, askedRounds] = process.argv.slice(2).filter((word) => word !== "--");
const visits = Count.default(5).parse(asked);
const rounds = Count.default(20).parse(askedRounds);
const Manifest = z.object({ routes: z.array(z.object({ path: z.string() })) });
const root = join(import.meta.dirname, "../..");

const builds = ["portal", "used", "whole"] as const;
type BuildName = (typeof builds)[number];
const looks = ["cold, 1.6 Mbit/s", "warm, 1.6 Mbit/s", "cold", "warm"] as const;
type Look = (typeof looks)[number];

interface Visit {
  readonly kilobytes: number;
  readonly requests: number;
  readonly roundTrips: number;
  readonly firstRemotePaint: number;
  readonly lcp: number;
  readonly cls: number;
  readonly tbt: number;
}

interface Opened {
  readonly page: Page;
  /** The one secret. */
  readonly secretId: string;
  readonly visits: Readonly<Record<Look, Visit[]>>;
  readonly clicks: number[];
  readonly firstRoute: number[];
  readonly routeAgain: number[];
  heap: readonly Heap[];
}

/** MB in use, and how many elements and listeners the page has, detached ones too. */
interface Heap {
  readonly nodes: number;
  readonly listeners: number;
  readonly all: number;
  /** Without compiled code and what belongs to it; only of the rounds that growth is told of. */
  readonly held: number;
}

const undo: (() => Promise<unknown>)[] = [];
try {
  const folder = await mkdtemp(join(tmpdir(), "relicario-bench-"));
  undo.push(() => rm(folder, { recursive: true, force: true }));
  const browser = await chromium.launch(chromiumArguments());
  undo.push(() => browser.close());
  process.exitCode = (await bench(browser, folder)) ? 0 : 1;
} finally {
  for (const step of undo.reverse()) await step();
}

async function bench(browser: Browser, folder: string): Promise<boolean> {
  const opened = {} as Record<BuildName, Opened>;
  for (const name of builds) opened[name] = await open(browser, name, folder);
  const each = builds.map((name) => opened[name]);
  const load = [loadavg()[0] ?? 0];

  for (const look of looks)
    for (let turn = 0; turn < visits; turn += 1) for (const one of each) one.visits[look].push(await visit(one, look));
  for (let turn = 0; turn < visits; turn += 1) for (const one of each) await changeRoutes(one);
  for (const one of each) one.heap = await goRound(one, await allPaths(one));
  load.push(loadavg()[0] ?? 0);

  const figures = Object.fromEntries(builds.map((name) => [name, figuresOf(opened[name])]));
  const first = (name: BuildName): Visit => middleVisit(opened[name].visits["cold, 1.6 Mbit/s"]);
  const ratio = (of: "kilobytes" | "lcp", to: BuildName): number => first("portal")[of] / first(to)[of];
  const ratios = {
    transferRatio: ratio("kilobytes", "used"),
    transferRatioWhole: ratio("kilobytes", "whole"),
    lcpRatio: ratio("lcp", "used"),
    lcpRatioWhole: ratio("lcp", "whole"),
    roundTrips: first("portal").roundTrips,
    heapGrowth: growth(opened.portal.heap, "held"),
    nodeGrowth: growth(opened.portal.heap, "nodes"),
    listenerGrowth: growth(opened.portal.heap, "listeners"),
    heapGrowthWithCode: growth(opened.portal.heap, "all"),
    heapGrowthWithCodeOfOne: growth(opened.used.heap, "all"),
  };
  const ok = Object.entries(limits).every(([name, limit]) => ratios[name as keyof typeof limits] <= limit);
  for (const look of looks) {
    console.log(`\n${look.padEnd(20)}kB    requests  trips  remote ms   LCP ms     CLS  TBT ms`);
    for (const name of builds) {
      const { kilobytes, requests, roundTrips, firstRemotePaint, lcp, cls, tbt } = middleVisit(
        opened[name].visits[look],
      );
      console.log(
        `${name.padEnd(14)}${kilobytes.toFixed(1).padStart(9)}${requests.toFixed(0).padStart(11)}${roundTrips.toFixed(0).padStart(7)}${firstRemotePaint.toFixed(0).padStart(11)}${lcp.toFixed(0).padStart(9)}${cls.toFixed(3).padStart(8)}${tbt.toFixed(0).padStart(8)}`,
      );
    }
  }
  for (const name of builds) {
    const { clicks, firstRoute, routeAgain, heap } = opened[name];
    console.log(
      `${name.padEnd(14)}click to paint ${median(clicks).toFixed(0)} ms; to Settings ${median(firstRoute).toFixed(0)} ms, again ${median(routeAgain).toFixed(0)}; heap ${heap.map(({ all }) => all.toFixed(1)).join(" ")} MB; without compiled code from ${(heap[1]?.held ?? NaN).toFixed(2)} to ${(heap.at(-1)?.held ?? NaN).toFixed(2)}; nodes ${counted(heap, "nodes")}, listeners ${counted(heap, "listeners")}`,
    );
  }
  console.log(JSON.stringify({ bench: "portal", ok, ratios, limits, figures, load }));
  return ok;
}

/** Starts one of the three, with an account that keeps one secret. */
async function open(browser: Browser, name: BuildName, folder: string): Promise<Opened> {
  const target = join(folder, `${name}-host`);
  const portal = async () =>
    startPortal({
      port: 0,
      dataDir: join(folder, name),
      log: console.log,
      ...(name !== "portal" && { environment: { gateway: { HOST_FOLDER: target } } }),
    });
  if (name !== "portal") await buildOneApplication({ packages: name, target });
  const running = await portal();
  undo.push(() => running.stop());
  const context = await browser.newContext({
    baseURL: running.origin,
    locale: "en-GB",
    viewport: { width: 1280, height: 900 },
    reducedMotion: "reduce",
  });
  undo.push(() => context.close());
  const page = await context.newPage();
  await noteEvents(page);
  await page.addInitScript(() => {
    const look = (): void => {
      const heading = document.querySelector("main h1");
      if (heading?.textContent.startsWith("Hello") === true) performance.mark("remote-painted");
      else requestAnimationFrame(look);
    };
    requestAnimationFrame(look);
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
  await answerDevice(page, "My own device");
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
async function leave(page: Page): Promise<void> {
  await page.goto("/silent-renew.html");
}

interface Request {
  readonly sent: number;
  answered: number;
}

/** Goes home, as somebody who is signed in. */
async function visit({ page }: Opened, look: Look): Promise<Visit> {
  await leave(page);
  const devtools = await page.context().newCDPSession(page);
  await devtools.send("Network.enable");
  if (look.startsWith("cold")) await devtools.send("Network.clearBrowserCache");
  await devtools.send("Network.emulateNetworkConditions", look.includes("Mbit") ? line : noLimit);
  const requests: Request[] = [];
  const running = new Map<string, Request>();
  const received: { readonly at: number; readonly bytes: number }[] = [];
  let epoch = 0; // of the browser's monotonic clock, in seconds
  devtools.on("Network.requestWillBeSent", ({ requestId, timestamp, wallTime, redirectResponse, request }) => {
    if (!request.url.startsWith("http")) return;
    epoch = wallTime - timestamp;
    if (redirectResponse !== undefined) {
      const before = running.get(requestId);
      if (before !== undefined) before.answered = timestamp;
      received.push({ at: timestamp, bytes: redirectResponse.encodedDataLength });
    }
    const started = { sent: timestamp, answered: Infinity };
    running.set(requestId, started);
    requests.push(started);
  });
  devtools.on("Network.responseReceived", ({ requestId, timestamp, response }) => {
    const found = running.get(requestId);
    if (found === undefined) return;
    found.answered = timestamp;
    received.push({ at: timestamp, bytes: response.fromDiskCache === true ? 0 : response.encodedDataLength });
  });
  devtools.on("Network.dataReceived", ({ requestId, timestamp, encodedDataLength }) => {
    if (running.has(requestId)) received.push({ at: timestamp, bytes: encodedDataLength });
  });
  devtools.on("Network.loadingFinished", ({ requestId, timestamp }) => {
    const found = running.get(requestId);
    if (found !== undefined) found.answered = timestamp;
  });
  const browser = page.context().browser();
  await browser?.startTracing(page, { categories: ["blink.user_timing", "loading", "devtools.timeline", "toplevel"] });
  await page.goto("/home");
  await page.getByRole("heading", { level: 1, name: /^Hello/ }).waitFor({ timeout: 90_000 });
  await page.waitForLoadState("networkidle");
  const trace = await browser?.stopTracing();
  if (trace === undefined) throw new TypeError("this page has no browser");
  await devtools.detach(); // its limits end with it
  const painted = await page.evaluate(() => ({
    after: performance.getEntriesByName("remote-painted")[0]?.startTime ?? NaN,
    origin: performance.timeOrigin,
  }));
  const until = (painted.origin + painted.after) / 1000 - epoch;
  const before = requests.filter(({ sent }) => sent < until);
  const paints = paintFigures(trace);
  return {
    kilobytes: received.reduce((sum, { at, bytes }) => sum + (at <= until ? bytes : 0), 0) / 1000,
    requests: before.length,
    roundTrips: longestChain(before.filter(({ answered }) => answered <= until)),
    firstRemotePaint: painted.after,
    lcp: paints.largestContentfulPaint,
    cls: paints.layoutShift,
    tbt: paints.totalBlockingTime,
  };
}

/**
 * How many requests at most came one after the other, each sent once the one before was answered.
 */
function longestChain(requests: readonly Request[]): number {
  let last = -Infinity;
  let count = 0;
  for (const { sent, answered } of requests.toSorted((a, b) => a.answered - b.answered)) {
    if (sent < last) continue;
    last = answered;
    count += 1;
  }
  return count;
}

/**
 * From a click on the navigation to the next screen: one whose code was not loaded yet, and the
 * same once more. Also the click itself.
 */
async function changeRoutes(one: Opened): Promise<void> {
  const { page } = one;
  await leave(page);
  await page.goto("/home");
  await page.getByRole("heading", { level: 1, name: /^Hello/ }).waitFor();
  await page.waitForLoadState("networkidle");
  const outcome = page.getByRole("heading", { level: 1, name: "Protect a secret" });
  one.clicks.push(
    (await measureClick(page, page.getByRole("main").getByRole("link", { name: "Protect a secret" }), outcome))
      .duration,
  );
  one.firstRoute.push(await timeTo(page, "/settings/profile", "Profile"));
  await timeTo(page, "/home", "Hello");
  one.routeAgain.push(await timeTo(page, "/settings/profile", "Profile"));
}

/**
 * Goes there inside the page, as its router does for the browser's buttons; milliseconds until a
 * frame has the screen's heading.
 */
async function timeTo(page: Page, path: string, heading: string): Promise<number> {
  return page.evaluate(
    async ([to, title]) => {
      const began = performance.now();
      history.pushState(null, "", to);
      dispatchEvent(new PopStateEvent("popstate", { state: null }));
      const shown = (): boolean =>
        location.pathname === to && document.querySelector("main h1")?.textContent.startsWith(title) === true;
      do await new Promise(requestAnimationFrame);
      while (!shown());
      return performance.now() - began;
    },
    [path, heading] as const,
  );
}

/** Paths of the signed manifests; what opens a link is shown a link to nothing. */
async function allPaths({ secretId }: Opened): Promise<readonly string[]> {
  const manifests = await Promise.all(
    ["secrets", "sharing", "recovery", "settings"].map(async (name) =>
      Manifest.parse(JSON.parse(await readFile(join(root, `remote-${name}/manifest.json`), "utf8"))),
    ),
  );
  const nothing = "A".repeat(22);
  return manifests.flatMap(({ routes }) =>
    routes
      .filter(({ path }) => !path.endsWith("*"))
      .map(({ path }) => path.replace(":secretId", secretId).replace(/:(shareId|requestId)/, nothing)),
  );
}

/** MB of heap in use after each round over all routes. */
async function goRound(one: Opened, paths: readonly string[]): Promise<readonly Heap[]> {
  const { page } = one;
  const devtools = await page.context().newCDPSession(page);
  await leave(page);
  await page.goto("/home");
  await page.waitForLoadState("networkidle");
  const sizes: Heap[] = [];
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
      held: round === 1 || round === rounds - 1 ? (await heldBytes(devtools)) / 1_000_000 : NaN,
    });
  }
  return sizes;
}

/** From the second round, when all code is there, to the last. */
function growth(sizes: readonly Heap[], of: keyof Heap): number {
  return (sizes.at(-1)?.[of] ?? NaN) / (sizes[1]?.[of] ?? NaN) - 1;
}

function counted(sizes: readonly Heap[], of: "nodes" | "listeners"): string {
  return `${String(sizes[1]?.[of] ?? NaN)} to ${String(sizes.at(-1)?.[of] ?? NaN)}`;
}

function figuresOf({ visits: byLook, clicks, firstRoute, routeAgain, heap }: Opened) {
  return {
    ...Object.fromEntries(looks.map((look) => [look, middleVisit(byLook[look])])),
    inp: median(clicks),
    firstRoute: median(firstRoute),
    routeAgain: median(routeAgain),
    heap,
  };
}

function middleVisit(all: readonly Visit[]): Visit {
  const of = (name: keyof Visit): number => median(all.map((each) => each[name]));
  return {
    kilobytes: of("kilobytes"),
    requests: of("requests"),
    roundTrips: of("roundTrips"),
    firstRemotePaint: of("firstRemotePaint"),
    lcp: of("lcp"),
    cls: of("cls"),
    tbt: of("tbt"),
  };
}

function median(numbers: readonly number[]): number {
  return numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? NaN;
}
