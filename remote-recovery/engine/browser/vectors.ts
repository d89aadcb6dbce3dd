/**
 * `pnpm vectors:browser [Node] [Chromium] [Firefox]`: checks the vectors, SIMD and scalar. A
 * missing browser is a failure, unless left out by `--without firefox`. In a browser, as in the
 * portal, the page compiles the modules and starts the worker, one file, from a blob under a strict
 * policy; the portal's own worker repeats two searches with its second core. The last line is "N
 * passed, N failed".
 */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Browser } from "puppeteer-core";
import { buildEngine } from "../build.ts";
import { bucketVector, vectors } from "../tests/vectors.ts";
import { launchBrowser, type BrowserName } from "./browsers.ts";
import { recomputeVectors, type RecomputeResult } from "./recompute.ts";
import { bundleScript, engineFolder, modulePaths, serve } from "./serve.ts";
import type {} from "./search-delegate.page.ts"; // declares its global function

const variants = ["simd", "scalar"] as const;
type Variant = (typeof variants)[number];

const cliArguments = process.argv
  .slice(2)
  .filter((argument) => argument !== "--")
  .map((argument) => argument.toLowerCase());
const excludedNames = cliArguments.filter((_, index) => cliArguments[index - 1] === "--without");
const selectedNames = cliArguments.filter(
  (argument, index) => argument !== "--without" && cliArguments[index - 1] !== "--without",
);
const environments = ["node", "chromium", "firefox"];
const unknownNames = [...excludedNames, ...selectedNames].filter((name) => !environments.includes(name));
if (unknownNames.length > 0)
  throw new Error(`${unknownNames.join(", ")} is unknown: the environments are ${environments.join(", ")}`);
const isSelected = (name: string) =>
  (selectedNames.length === 0 || selectedNames.includes(name.toLowerCase())) &&
  !excludedNames.includes(name.toLowerCase());

await buildEngine();
const photosFolder = join(engineFolder, "../../e2e/fixtures/photos");
const picturesFolder = join(engineFolder, "vectors/pictures");
const vectorFiles = [
  ...["chelsea.png", "coffee.png", "astronaut.png", "spacex-3000x1688.jpg", "rocket.jpg"].map(
    (name) => [name, join(photosFolder, name)] as const,
  ),
  ...readdirSync(picturesFolder).map((name) => [`pictures/${name}`, join(picturesFolder, name)] as const),
];

let passedCount = 0;
let failedCount = 0;
const report = (environment: string, variant: Variant, result: RecomputeResult) => {
  passedCount += result.passedCount;
  failedCount += result.failures.length;
  for (const failure of result.failures) console.log(`${environment}, ${variant}: ${failure}`);
  console.log(
    `${environment}, ${variant}: ${String(result.passedCount)} passed, ${String(result.failures.length)} failed`,
  );
};

if (isSelected("Node"))
  for (const variant of variants) report(`Node ${process.versions.node}`, variant, await runInNode(variant));
const browsers = (["Chromium", "Firefox"] as const).filter(isSelected);
if (browsers.length > 0) await runInBrowsers(browsers);
console.log(`${String(passedCount)} passed, ${String(failedCount)} failed`);
process.exitCode = failedCount === 0 && passedCount > 0 ? 0 : 1;

async function runInNode(variant: Variant): Promise<RecomputeResult> {
  const compile = async (name: string) =>
    WebAssembly.compile(readFileSync(join(engineFolder, modulePaths[name] ?? "")));
  const [engine, jpeg, png] = await Promise.all([compile(`engine-${variant}`), compile("jpeg"), compile("png")]);
  return recomputeVectors({
    modules: { engine, jpeg, png },
    vectors,
    buckets: bucketVector,
    files: new Map(vectorFiles.map(([name, path]) => [name, readFileSync(path)])),
  });
}

async function runInBrowsers(browserNames: readonly BrowserName[]): Promise<void> {
  const { origin, close } = await serve(
    new Map([
      ["/worker.js", await bundleScript("browser/vectors.worker.ts")],
      ["/page.js", await bundleScript("browser/search-delegate.page.ts")],
      ["/engine-worker.js", await bundleScript("src/engine.worker.ts")],
      [
        "/vectors.json",
        { type: "application/json", body: Buffer.from(JSON.stringify({ vectors, buckets: bucketVector })) },
      ],
      ...vectorFiles.map(
        ([name, path]) => [`/file/${name}`, { type: "application/octet-stream", body: readFileSync(path) }] as const,
      ),
    ]),
  );
  try {
    for (const name of browserNames) {
      const browser = await launchBrowser(name);
      if (browser === null) {
        failedCount++;
        console.log(
          `${name} is not installed: name it with RELICARIO_${name.toUpperCase()}, or leave it out with --without ${name.toLowerCase()}`,
        );
      } else {
        await runInBrowser(browser, origin);
      }
    }
  } finally {
    close();
  }
}

async function runInBrowser(browser: Browser, origin: string): Promise<void> {
  try {
    const version = await browser.version();
    const page = await browser.newPage();
    await page.goto(`${origin}/`);
    for (const variant of variants) {
      report(
        version,
        variant,
        await page.evaluate(
          runInPage,
          variant,
          vectorFiles.map(([name]) => name),
        ),
      );
      report(`${version}, second core`, variant, await page.evaluate((name) => globalThis.compareCores(name), variant));
    }
  } finally {
    await browser.close();
  }
}

async function runInPage(variant: string, files: readonly string[]): Promise<RecomputeResult> {
  const compile = async (name: string) => WebAssembly.compileStreaming(fetch(`/${name}.wasm`));
  const readFile = async (name: string) =>
    [name, new Uint8Array(await (await fetch(`/file/${name}`)).arrayBuffer())] as const;
  const [engine, jpeg, png] = await Promise.all([compile(`engine-${variant}`), compile("jpeg"), compile("png")]);
  const request = {
    modules: { engine, jpeg, png },
    ...((await (await fetch("/vectors.json")).json()) as object), // vectors and buckets
    files: new Map(await Promise.all(files.map(readFile))),
  };
  const worker = new Worker(
    URL.createObjectURL(new Blob([await (await fetch("/worker.js")).text()], { type: "text/javascript" })),
  );
  return new Promise((resolve, reject) => {
    worker.onmessage = ({ data }: MessageEvent<RecomputeResult>) => {
      worker.terminate();
      resolve(data);
    };
    worker.onerror = (event) => {
      reject(new Error(event.message));
    };
    worker.postMessage(request);
  });
}
