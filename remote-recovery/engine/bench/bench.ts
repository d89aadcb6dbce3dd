/**
 * How long things take: `pnpm bench:engine`. Makes pictures of 1, 12 and 48 megapixels out of a photograph, and measures decoding,
 * enrolment, aligned recovery, blind recovery and the refusal of another picture, in both builds; the same coarse pass in
 * plain JavaScript beside it. Fails when a limit is broken. Processor time, so that a busy machine measures the same.
 */
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { loadCodecs } from "../study/codecs.ts";
import { enrolmentWindow, feedPicture, instantiateEngine, readImageSecret, readSketch, writeSketch, type EngineWasm } from "../../src/engine/engine-wasm.ts";
import { loadModulesInNode } from "../../src/engine/load-engine.ts";
import { rowsOf, type Raster } from "../../src/engine/rows.ts";
import { decodeCandidates, lookStraight, refineAll } from "../../src/engine/search.ts";
import { resample } from "../../src/engine/self-test/resample.ts";
import { selfTest } from "../../src/engine/self-test/self-test.ts";
import { productInJavaScript } from "./plain.ts";

/** Milliseconds with decoding, 12 megapixels, SIMD; bytes of the WASM after gzip. */
const limits = { aligned: 700, blind: 1500, refusal: 1500, wasm: 60_000 };

const recovery = fileURLToPath(new URL("../..", import.meta.url));
const photo = (name: string) => readFileSync(`${recovery}/../e2e/fixtures/photos/${name}`);
const codecs = await loadCodecs();
const sunset = await codecs.decode(photo("sunset-4272x2848.jpg"));
const picos = await codecs.decode(photo("picos-3264x2448.jpg"));

const sizes = [[1, 1224, 816], [12, 4272, 2848], [48, 8486, 5656]] as const;
const broken: string[] = [];
const rows: (readonly (string | number)[])[] = [];

for (const variant of ["simd", "scalar"] as const) {
  const wasm = instantiateEngine((await loadModulesInNode(variant)).engine);
  for (const [megapixels, width, height] of sizes) {
    const file = await codecs.jpegFile(width === sunset.width ? sunset : resample(sunset, width, height, "bilinear"), 85);
    const { result: picture, time: decoding } = await measure(() => codecs.decode(file));
    const { result: made, time: enrolment } = await measure(() => enrol(wasm, picture));
    const { time: testing } = await measure(() => selfTest(wasm, picture, made.sketch, made.secret, noPause));
    const { time: aligned } = await measure(() => {
      open(wasm, picture);
      writeSketch(wasm, 0, made.sketch);
      if (lookStraight(wasm, 1) === null) throw new Error("not recovered");
    });
    const { time: blind } = await measure(() => search(wasm, picture, "recovered"));
    writeSketch(wasm, 0, enrol(wasm, picos).sketch);
    const { time: refusal } = await measure(() => search(wasm, picture, "not_this_picture"));
    wasm.wipe();
    rows.push([variant, megapixels, ...[decoding, enrolment, testing, aligned, blind, refusal].map(Math.round), Math.round(wasm.memory.buffer.byteLength / 1e6)]);
    if (variant === "simd" && megapixels === 12) {
      for (const [name, time] of Object.entries({ aligned, blind, refusal })) {
        const limit = limits[name === "aligned" ? "aligned" : name === "blind" ? "blind" : "refusal"];
        if (decoding + time > limit) broken.push(`${name}: ${(decoding + time).toFixed(0)} ms, limit ${String(limit)} ms`);
      }
    }
  }
}

const size = gzipSync(readFileSync(`${recovery}/engine/build/engine.simd.wasm`), { level: 9 }).length;
if (size > limits.wasm) broken.push(`WASM: ${String(size)} bytes`);

console.log("milliseconds of processor time; megabytes of the engine's memory\n");
const head = ["build", "Mpx", "decode", "enrol", "self-test", "aligned", "blind", "refusal", "memory"];
for (const row of [head, ...rows]) console.log(row.map((cell) => String(cell).padStart(10)).join(""));
console.log(`\nThe two transforms of one full window: ${await transforms()}`);
console.log(`WASM: ${String(size)} bytes after gzip, limit ${String(limits.wasm)}`);
for (const words of broken) console.log(`over the limit: ${words}`);
console.log(`${String(4 - broken.length)} passed, ${String(broken.length)} failed`);
process.exitCode = broken.length === 0 ? 0 : 1;

function noPause(): Promise<void> {
  return Promise.resolve();
}

async function measure<T>(work: () => T | Promise<T>): Promise<{ result: T; time: number }> {
  const before = process.cpuUsage();
  const result = await work();
  const { user, system } = process.cpuUsage(before);
  return { result, time: (user + system) / 1000 };
}

function open(wasm: EngineWasm, picture: Raster): void {
  if (!feedPicture(wasm, rowsOf(picture))) throw new Error("the engine refused the picture");
}

function enrol(wasm: EngineWasm, picture: Raster) {
  open(wasm, picture);
  wasm.look(...enrolmentWindow);
  wasm.gate();
  wasm.enrol();
  return { sketch: readSketch(wasm), secret: readImageSecret(wasm) };
}

/** The whole blind search for the sketch in the first slot. */
async function search(wasm: EngineWasm, picture: Raster, wanted: string): Promise<void> {
  open(wasm, picture);
  wasm.coarse(1, 0, wasm.coarseWindows.value);
  const { outcome } = decodeCandidates(wasm, 0, await refineAll(wasm, 0, noPause));
  if (outcome !== wanted) throw new Error(`${outcome} instead of ${wanted}`);
}

/** SIMD, scalar and plain JavaScript on the same window. */
async function transforms(): Promise<string> {
  const times: string[] = [];
  const rounds = 200;
  for (const variant of ["simd", "scalar"] as const) {
    const wasm = instantiateEngine((await loadModulesInNode(variant)).engine);
    open(wasm, picos);
    const { time } = await measure(() => {
      for (let i = 0; i < rounds; i++) wasm.look(...enrolmentWindow);
    });
    times.push(`${variant} ${(time / rounds).toFixed(2)} ms`);
  }
  const { time } = await measure(() => {
    for (let i = 0; i < rounds; i++) productInJavaScript();
  });
  return [...times, `plain JavaScript ${(time / rounds).toFixed(2)} ms`].join(", ");
}
