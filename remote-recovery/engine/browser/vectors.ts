/**
 * The vectors in Node, in Chromium and in Firefox, SIMD and scalar: `pnpm vectors:browser [Node]
 * [Chromium] [Firefox]`. A browser that is not installed is a failure, unless it is left out by
 * `--without firefox`. In a browser the worker is one file, started from a blob under a strict
 * policy, as in the portal; modules are compiled by the page; two searches are done again by the
 * portal's own worker with its second core. Ends with the plain line "N passed, N failed".
 */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Browser } from "puppeteer-core";
import { buildEngine } from "../build.ts";
import { bucketVector, vectors } from "../tests/vectors.ts";
import { start, type BrowserName } from "./browsers.ts";
import { recompute, type Answer } from "./recompute.ts";
import { bundle, engineFolder, modules, serve } from "./serve.ts";
import type {} from "./second-core.page.ts"; // its global function

const variants = ["simd", "scalar"] as const;
type Variant = (typeof variants)[number];

const words = process.argv
  .slice(2)
  .filter((word) => word !== "--")
  .map((word) => word.toLowerCase());
const without = words.filter((_, at) => words[at - 1] === "--without");
const wanted = words.filter((word, at) => word !== "--without" && words[at - 1] !== "--without");
const places = ["node", "chromium", "firefox"];
const unknown = [...without, ...wanted].filter((word) => !places.includes(word));
if (unknown.length > 0) throw new Error(`${unknown.join(", ")}: there are ${places.join(", ")}`);
const runs = (name: string) =>
  (wanted.length === 0 || wanted.includes(name.toLowerCase())) && !without.includes(name.toLowerCase());

await buildEngine();
const photos = join(engineFolder, "../../e2e/fixtures/photos");
const pictures = join(engineFolder, "vectors/pictures");
const names = [
  ...["chelsea.png", "coffee.png", "astronaut.png", "spacex-3000x1688.jpg", "rocket.jpg"].map(
    (name) => [name, join(photos, name)] as const,
  ),
  ...readdirSync(pictures).map((name) => [`pictures/${name}`, join(pictures, name)] as const),
];

let passed = 0;
let failed = 0;
const count = (where: string, variant: Variant, answer: Answer) => {
  passed += answer.passed;
  failed += answer.failed.length;
  for (const words of answer.failed) console.log(`${where}, ${variant}: ${words}`);
  console.log(`${where}, ${variant}: ${String(answer.passed)} passed, ${String(answer.failed.length)} failed`);
};

if (runs("Node"))
  for (const variant of variants) count(`Node ${process.versions.node}`, variant, await inNode(variant));
const browsers = (["Chromium", "Firefox"] as const).filter(runs);
if (browsers.length > 0) await inBrowsers(browsers);
console.log(`${String(passed)} passed, ${String(failed)} failed`);
process.exitCode = failed === 0 && passed > 0 ? 0 : 1;

async function inNode(variant: Variant): Promise<Answer> {
  const compile = async (name: string) => WebAssembly.compile(readFileSync(join(engineFolder, modules[name] ?? "")));
  const [engine, jpeg, png] = await Promise.all([compile(`engine-${variant}`), compile("jpeg"), compile("png")]);
  return recompute({
    modules: { engine, jpeg, png },
    vectors,
    buckets: bucketVector,
    files: new Map(names.map(([name, path]) => [name, readFileSync(path)])),
  });
}

async function inBrowsers(list: readonly BrowserName[]): Promise<void> {
  const { origin, close } = await serve(
    new Map([
      ["/worker.js", await bundle("browser/vectors.worker.ts")],
      ["/page.js", await bundle("browser/second-core.page.ts")],
      ["/engine-worker.js", await bundle("src/engine.worker.ts")],
      [
        "/vectors.json",
        { type: "application/json", body: Buffer.from(JSON.stringify({ vectors, buckets: bucketVector })) },
      ],
      ...names.map(
        ([name, path]) => [`/file/${name}`, { type: "application/octet-stream", body: readFileSync(path) }] as const,
      ),
    ]),
  );
  try {
    for (const name of list) {
      const browser = await start(name);
      if (browser === null) {
        failed++;
        console.log(
          `${name} is not installed: name it with RELICARIO_${name.toUpperCase()}, or leave it out with --without ${name.toLowerCase()}`,
        );
      } else {
        await inBrowser(browser, origin);
      }
    }
  } finally {
    close();
  }
}

async function inBrowser(browser: Browser, origin: string): Promise<void> {
  try {
    const version = await browser.version();
    const page = await browser.newPage();
    await page.goto(`${origin}/`);
    for (const variant of variants) {
      count(
        version,
        variant,
        await page.evaluate(
          runInPage,
          variant,
          names.map(([name]) => name),
        ),
      );
      count(`${version}, second core`, variant, await page.evaluate((name) => globalThis.compareCores(name), variant));
    }
  } finally {
    await browser.close();
  }
}

/** Runs in the page: compiles, starts the worker from a blob, waits for its answer. */
async function runInPage(variant: string, files: readonly string[]): Promise<Answer> {
  const compile = async (name: string) => WebAssembly.compileStreaming(fetch(`/${name}.wasm`));
  const bytes = async (name: string) =>
    [name, new Uint8Array(await (await fetch(`/file/${name}`)).arrayBuffer())] as const;
  const [engine, jpeg, png] = await Promise.all([compile(`engine-${variant}`), compile("jpeg"), compile("png")]);
  const order = {
    modules: { engine, jpeg, png },
    ...((await (await fetch("/vectors.json")).json()) as object), // vectors and buckets
    files: new Map(await Promise.all(files.map(bytes))),
  };
  const worker = new Worker(
    URL.createObjectURL(new Blob([await (await fetch("/worker.js")).text()], { type: "text/javascript" })),
  );
  return new Promise((resolve, reject) => {
    worker.onmessage = ({ data }: MessageEvent<Answer>) => {
      worker.terminate();
      resolve(data);
    };
    worker.onerror = (event) => {
      reject(new Error(event.message));
    };
    worker.postMessage(order);
  });
}
