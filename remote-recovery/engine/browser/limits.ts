/**
 * The limits in Chromium, on JPEGs of 12 megapixels: the second half of `pnpm bench:engine`. The
 * engine's own worker, as built for the portal; times from the page's call to its answer, decoding
 * included. A busy machine slows them, so the best of some rounds counts, and its load is shown; of
 * the page's longest tasks the longest. The last line is JSON.
 */
import { readFileSync } from "node:fs";
import { loadavg } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { buildEngine } from "../build.ts";
import { crop } from "../study/changes.ts";
import { loadCodecs } from "../study/codecs.ts";
import { resample, Filter } from "../src/self-test/resample.ts";
import { launchBrowser } from "./browsers.ts";
import type { Times } from "./limits.page.ts";
import { bundleScript, engineFolder, modules, serve } from "./serve.ts";

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
  picture: await codecs.jpegFile(picture, 90),
  cropped: await codecs.jpegFile(crop(picture, 0.013, 0.027, 0.004, 0.021), 85),
  stranger: await codecs.jpegFile(resample(smallPicture, 4000, 3000, Filter.bilinear), 90),
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
if (browser === null) throw new Error("there is no Chromium: name one with RELICARIO_CHROMIUM");

const best: Record<keyof Times, number> = {
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
      best[name] = Math.min(best[name], times[name]);
    best.blocked = Math.max(best.blocked, times.blocked);
  }
} finally {
  await browser.close();
  close();
}

const wasm = gzipSync(readFileSync(join(engineFolder, modules["engine-simd"] ?? "")), { level: 9 }).length;
const figures = { ...best, wasm };
const exceeded = Object.entries(limits)
  .filter(([name, limit]) => !(figures[name === "wasm" ? "wasm" : timeName(name)] <= limit))
  .map(([name]) => name);
for (const name of exceeded) console.log(`over the limit: ${name}`);
console.log(
  JSON.stringify({ bench: "engine-chromium", ok: exceeded.length === 0, figures: roundValues(figures), limits }),
);
process.exitCode = exceeded.length === 0 ? 0 : 1;

function timeName(name: string): keyof Times {
  return name === "aligned" || name === "blind" || name === "refusal" ? name : "blocked";
}

function roundValues(values: Readonly<Record<string, number>>): Record<string, number> {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, Math.round(value)]));
}
