/**
 * The vectors in a real browser, SIMD and scalar: `node remote-recovery/engine/browser/run.ts [chromium's path]`.
 * The worker is one file, started from a blob under a strict policy, as in the portal; modules are compiled by the page.
 * Ends with the plain line "N passed, N failed".
 */
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { chromium } from "@playwright/test";
// eslint-disable-next-line relicario/boundaries -- a tool of developers, like webpack.config.ts: nothing of this is in the product
import { workersConfig } from "@relicario/tooling/webpack";
import webpack from "webpack";
import { buildEngine } from "../build.ts";

const recovery = fileURLToPath(new URL("../..", import.meta.url));
const policy = "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; worker-src blob:; connect-src 'self'";

const script = await bundle();
await buildEngine();
const photos = join(recovery, "../e2e/fixtures/photos");
const pictures = join(recovery, "engine/vectors/pictures");
const names = [
  ...["chelsea.png", "coffee.png", "astronaut.png", "spacex-3000x1688.jpg", "rocket.jpg"].map((name) => [name, join(photos, name)] as const),
  ...readdirSync(pictures).map((name) => [`pictures/${name}`, join(pictures, name)] as const),
];
const served = new Map<string, { readonly type: string; readonly body: Uint8Array }>([
  ["/", { type: "text/html", body: Buffer.from("<!doctype html><title>vectors</title>") }],
  ["/worker.js", { type: "text/javascript", body: script }],
  ["/vectors.json", { type: "application/json", body: readFileSync(join(recovery, "engine/vectors/rie1.json")) }],
  ["/simd.wasm", wasm("engine/build/engine.simd.wasm")],
  ["/scalar.wasm", wasm("engine/build/engine.scalar.wasm")],
  ["/jpeg.wasm", wasm("node_modules/@jsquash/jpeg/codec/dec/mozjpeg_dec.wasm")],
  ["/png.wasm", wasm("node_modules/@jsquash/png/codec/pkg/squoosh_png_bg.wasm")],
  ...names.map(([name, path]) => [`/file/${name}`, { type: "application/octet-stream", body: readFileSync(path) }] as const),
]);
const server = createServer((request, response) => {
  const found = served.get(decodeURIComponent(request.url ?? ""));
  response.writeHead(found === undefined ? 404 : 200, { "content-type": found?.type ?? "text/plain", "content-security-policy": policy });
  response.end(found?.body);
});
await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
const address = server.address();
if (address === null || typeof address === "string") throw new Error("no port");

const given = process.argv[2] ?? "/usr/bin/chromium";
const browser = await chromium.launch({ args: ["--no-sandbox"], ...(existsSync(given) ? { executablePath: given } : {}) });
let passed = 0;
let failed = 0;
try {
  const page = await browser.newPage();
  await page.goto(`http://localhost:${String(address.port)}/`);
  for (const variant of ["simd", "scalar"]) {
    const answer = await page.evaluate(runInPage, { variant, names: names.map(([name]) => name) });
    passed += answer.passed;
    failed += answer.failed.length;
    for (const words of answer.failed) console.log(`${variant}: ${words}`);
    console.log(`${browser.version()}, ${variant}: ${String(answer.passed)} passed, ${String(answer.failed.length)} failed`);
  }
} finally {
  await browser.close();
  server.close();
}
console.log(`${String(passed)} passed, ${String(failed)} failed`);
process.exitCode = failed === 0 && passed > 0 ? 0 : 1;

/** Runs in the page: compiles, starts the worker from a blob, waits for its answer. */
async function runInPage({ variant, names: files }: { variant: string; names: readonly string[] }): Promise<{ passed: number; failed: readonly string[] }> {
  const compile = async (name: string) => WebAssembly.compileStreaming(fetch(`/${name}.wasm`));
  const bytes = async (name: string) => [name, new Uint8Array(await (await fetch(`/file/${name}`)).arrayBuffer())] as const;
  const [engine, jpeg, png] = await Promise.all([compile(variant), compile("jpeg"), compile("png")]);
  const order = {
    variant,
    modules: { engine, jpeg, png },
    vectors: (await (await fetch("/vectors.json")).json()) as unknown,
    files: new Map(await Promise.all(files.map(bytes))),
  };
  const worker = new Worker(URL.createObjectURL(new Blob([await (await fetch("/worker.js")).text()], { type: "text/javascript" })));
  return new Promise((resolve, reject) => {
    worker.onmessage = ({ data }: MessageEvent<{ passed: number; failed: readonly string[] }>) => {
      resolve(data);
    };
    worker.onerror = (event) => {
      reject(new Error(event.message));
    };
    worker.postMessage(order);
  });
}

function wasm(path: string) {
  return { type: "application/wasm", body: readFileSync(join(recovery, path)) };
}

/** One file, as the portal's workers are built. */
async function bundle(): Promise<Uint8Array> {
  const out = mkdtempSync(join(tmpdir(), "engine-vectors-"));
  try {
    const config = workersConfig();
    const compiler = webpack({
      ...config,
      cache: false,
      entry: { worker: join(recovery, "engine/browser/vectors.worker.ts") },
      output: { ...config.output, path: out },
    });
    const words = await new Promise<string>((resolve) => {
      compiler.run((error, stats) => {
        resolve(error?.message ?? (stats?.hasErrors() === true ? stats.toString("errors-only") : ""));
      });
    });
    if (words !== "") throw new Error(words);
    return readFileSync(join(out, "worker.js"));
  } finally {
    rmSync(out, { recursive: true, force: true });
  }
}
