/**
 * The second half of `pnpm bench:engine`: checks the limits in Chromium, on JPEGs of 12 megapixels.
 * Times the engine's worker, as built for the portal, from the page's call to its result, including
 * decoding. Takes the best round, because load slows calls, but the page's longest task of all
 * rounds. The last line is JSON.
 */
import { readFileSync } from "node:fs";
import { loadavg } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { buildEngine } from "../build.ts";
import { crop } from "../study/changes.ts";
import { loadCodecs } from "../study/codecs.ts";
import { resample, ResampleFilter } from "../src/self-test/resample.ts";
import { launchBrowser } from "./browsers.ts";
import type { MeasuredTimes } from "./limits.page.ts";
import { bundleScript, engineFolder, modulePaths, serve } from "./serve.ts";

/** Milliseconds; bytes after gzip. */
const limits = { aligned: 700, blind: 1500, refusal: 1500, blocked: 50, wasm: 60_000 };
const rounds = Number(process.argv.slice(2).find((argument) => argument !== "--") ?? 5);

await buildEngine();
const codecs = await loadCodecs();
const readPhoto = async (name: string) =>
  codecs.decode(readFileSync(join(engineFolder, "../../e2e/fixtures/photos", name)));
const picture = await readPhoto("sunset-4272x2848.jpg");
const smallPicture = await readPhoto("picos-3264x2448.jpg");
const files = {
  picture: await codecs.encodeJpeg(picture, 90),
  cropped: await codecs.encodeJpeg(crop(picture, 0.013, 0.027, 0.004, 0.021), 85),
  stranger: await codecs.encodeJpeg(resample(smallPicture, 4000, 3000, ResampleFilter.bilinear), 90),
};
const { origin, close } = await serve(
  new Map([
    ["/page.js", await bundleScript("browser/limits.page.ts")],
    ["/worker.js", await bundleScript("src/engine.worker.ts")],
    ...Object.entries(files).map(
      ([name, body]) => [`/file/${name}`, { type: "application/octet-stream", body }] as const,
    ),
  ]),
);
const browser = await launchBrowser("Chromium");
if (browser === null) throw new Error("Chromium not found; set RELICARIO_CHROMIUM to its path");

const bestTimes: Record<keyof MeasuredTimes, number> = {
  aligned: Infinity,
  blind: Infinity,
  refusal: Infinity,
  enrolment: Infinity,
  blocked: 0,
};
try {
  console.log(`${await browser.version()}, milliseconds; the machine's load in front\n`);
  for (let round = 0; round < rounds; round++) {
    const page = await browser.newPage();
    await page.goto(`${origin}/`);
    const times = await page.evaluate(() => globalThis.measure());
    await page.close();
    const summary = Object.entries<number>({ ...times }).map(([name, value]) => `${name} ${value.toFixed(0)}`);
    console.log(`${loadavg()[0]?.toFixed(1) ?? "?"}  ${summary.join(", ")}`);
    for (const name of ["aligned", "blind", "refusal", "enrolment"] as const)
      bestTimes[name] = Math.min(bestTimes[name], times[name]);
    bestTimes.blocked = Math.max(bestTimes.blocked, times.blocked);
  }
} finally {
  await browser.close();
  close();
}

const wasmGzipBytes = gzipSync(readFileSync(join(engineFolder, modulePaths["engine-simd"] ?? "")), { level: 9 }).length;
const figures = { ...bestTimes, wasm: wasmGzipBytes };
const exceededLimits = Object.entries(limits)
  .filter(([name, limit]) => !(figures[name === "wasm" ? "wasm" : toTimeName(name)] <= limit))
  .map(([name]) => name);
for (const name of exceededLimits) console.log(`over the limit: ${name}`);
console.log(
  JSON.stringify({ bench: "engine-chromium", ok: exceededLimits.length === 0, figures: roundValues(figures), limits }),
);
process.exitCode = exceededLimits.length === 0 ? 0 : 1;

function toTimeName(name: string): keyof MeasuredTimes {
  return name === "aligned" || name === "blind" || name === "refusal" ? name : "blocked";
}

function roundValues(values: Readonly<Record<string, number>>): Record<string, number> {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, Math.round(value)]));
}
