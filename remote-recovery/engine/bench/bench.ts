/**
 * `pnpm bench:engine`: times each step at 1, 12 and 48 megapixels in both builds, in JavaScript
 * translated from the scalar build, and in the reference if Python has numpy. Then times the
 * decoder and the coarse beacon separately, with and without their tables.
 *
 * Measures processor time, which load hardly changes: the best of three rounds, but the self-test
 * once. The last line is JSON; the exit code is 1 if a limit is exceeded.
 */
import { readFileSync } from "node:fs";
import { cpus } from "node:os";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { loadCodecs } from "../study/codecs.ts";
import {
  enrolmentWindow,
  feedPicture,
  instantiateEngine,
  readImageSecret,
  readSketch,
  writeSketch,
  type EngineWasm,
} from "../src/engine-wasm.ts";
import { loadModulesInNode } from "../src/load-engine.ts";
import { toPictureRows, type Raster } from "../src/picture-rows.ts";
import { decodeCandidates } from "../src/candidates.ts";
import { matchEnrolmentWindow, refineCandidates } from "../src/search.ts";
import { resample } from "../src/self-test/resample.ts";
import { testChangedCopies } from "../src/self-test/self-test.ts";
import { measureParts, measurePlainDecoder, type PartTimes } from "./parts.ts";
import { loadEngineAsJavaScript, timeReference } from "./baselines.ts";

/** Milliseconds with decoding, 12 megapixels, SIMD; `wasm` is bytes after gzip. */
const limits = { aligned: 700, blind: 1500, refusal: 1500, wasm: 60_000 } as const;
const rounds = 3;

const engineFolder = fileURLToPath(new URL("..", import.meta.url));
const photoFile = (name: string) => `${engineFolder}/../../e2e/fixtures/photos/${name}`;
const codecs = await loadCodecs();
const sunset = await codecs.decode(readFileSync(photoFile("sunset-4272x2848.jpg")));
const picos = await codecs.decode(readFileSync(photoFile("picos-3264x2448.jpg")));
const noPause = () => Promise.resolve();

const sizes = [
  [1, 1224, 816],
  [12, 4272, 2848],
  [48, 8486, 5656],
] as const;
const steps = ["decode", "enrol", "self_test", "aligned", "blind", "refusal", "memory_mb"] as const;
type Measurements = Record<(typeof steps)[number], number>;

const simd = instantiateEngine((await loadModulesInNode("simd")).engine);
const scalar = instantiateEngine((await loadModulesInNode("scalar")).engine);
const javascript = await loadEngineAsJavaScript(`${engineFolder}/build/engine.scalar.wasm`);

const measurements: Record<string, Record<string, Measurements>> = {};
for (const [megapixels, width, height] of sizes) {
  const file = await codecs.encodeJpeg(
    width === sunset.width ? sunset : resample(sunset, width, height, "bilinear"),
    85,
  );
  const { result: picture, milliseconds: decode } = await measure(() => codecs.decode(file));
  for (const [name, engine] of Object.entries({ simd, scalar, javascript })) {
    (measurements[name] ??= {})[String(megapixels)] = { decode, ...(await measureEngine(engine, picture)) };
  }
}
const partTimes: Record<string, Partial<PartTimes>> = { plain: measurePlainDecoder() };
for (const [name, engine] of Object.entries({ simd, scalar, javascript }))
  partTimes[name] = measureParts(engine, sunset, enrol(engine, sunset).sketch);
const referenceTimes = await measureReference();
const wasmGzipBytes = gzipSync(readFileSync(`${engineFolder}/build/engine.simd.wasm`), { level: 9 }).length;

printReport();
const getMeasurementsAt12Megapixels = (build: string) => measurements[build]?.["12"];
const addDecodingTime = (step: "aligned" | "blind" | "refusal") =>
  (getMeasurementsAt12Megapixels("simd")?.decode ?? NaN) + (getMeasurementsAt12Megapixels("simd")?.[step] ?? NaN);
const limitedFigures = {
  aligned: addDecodingTime("aligned"),
  blind: addDecodingTime("blind"),
  refusal: addDecodingTime("refusal"),
  wasm: wasmGzipBytes,
};
const exceededLimits = (Object.keys(limits) as (keyof typeof limits)[]).filter(
  (name) => !(limitedFigures[name] <= limits[name]),
);
for (const name of exceededLimits) console.log(`over the limit: ${name}`);
console.log(
  JSON.stringify({
    bench: "engine",
    ok: exceededLimits.length === 0,
    machine: { cpu: cpus()[0]?.model ?? "", cores: cpus().length, node: process.version },
    limits,
    limited: roundValues(limitedFigures),
    figures: Object.fromEntries(
      Object.entries(measurements).map(([name, rows]) => [
        name,
        Object.fromEntries(Object.entries(rows).map(([size, row]) => [size, roundValues(row)])),
      ]),
    ),
    parts: Object.fromEntries(Object.entries(partTimes).map(([name, row]) => [name, roundToThousandths(row)])),
    reference: referenceTimes,
    times_faster: {
      than_javascript: computeSpeedup(getMeasurementsAt12Megapixels("javascript")),
      than_scalar: computeSpeedup(getMeasurementsAt12Megapixels("scalar")),
      than_reference: referenceTimes === null ? null : computeSpeedup(referenceTimes),
    },
  }),
);
process.exitCode = exceededLimits.length === 0 ? 0 : 1;

/**
 * Times every step on one picture; returns the best round. Throws if a recovery does not end as
 * expected.
 */
async function measureEngine(engine: EngineWasm, picture: Raster): Promise<Omit<Measurements, "decode">> {
  const bestTimes = { enrol: Infinity, self_test: Infinity, aligned: Infinity, blind: Infinity, refusal: Infinity };
  const measureStep = async <T>(step: keyof typeof bestTimes, task: () => T | Promise<T>): Promise<T> => {
    const { result, milliseconds } = await measure(task);
    bestTimes[step] = Math.min(bestTimes[step], milliseconds);
    return result;
  };
  for (let round = 0; round < rounds; round++) {
    const enrolment = await measureStep("enrol", () => enrol(engine, picture));
    if (round === 0)
      await measureStep("self_test", () =>
        testChangedCopies(engine, picture, enrolment.sketch, enrolment.secret, noPause),
      );
    await measureStep("aligned", () => {
      loadPicture(engine, picture);
      writeSketch(engine, 0, enrolment.sketch);
      if (matchEnrolmentWindow(engine, 1) === null) throw new Error("expected the picture to be recovered");
    });
    await measureStep("blind", () => searchBlindly(engine, picture, "recovered"));
    writeSketch(engine, 0, enrol(engine, picos).sketch);
    await measureStep("refusal", () => searchBlindly(engine, picture, "not_this_picture"));
  }
  engine.wipe();
  return { ...bestTimes, memory_mb: engine.memory.buffer.byteLength / 1e6 };
}

/**
 * Times the reference at 12 megapixels. Null if it cannot run. Throws if its image secret differs.
 */
async function measureReference() {
  const times = await timeReference(photoFile("sunset-4272x2848.jpg"));
  if (times === null) return null;
  const matches = Buffer.from(enrol(simd, sunset).secret).toString("hex") === times.image_secret;
  simd.wipe();
  if (!matches) throw new Error("the reference computes a different image secret");
  return roundValues({ decode: times.decode, enrol: times.enrol, blind: times.blind });
}

function loadPicture(engine: EngineWasm, picture: Raster): void {
  if (!feedPicture(engine, toPictureRows(picture))) throw new Error("the engine rejects the picture");
}

function enrol(engine: EngineWasm, picture: Raster) {
  loadPicture(engine, picture);
  engine.analyseWindow(...enrolmentWindow);
  engine.measureGate();
  engine.enrol();
  return { sketch: readSketch(engine), secret: readImageSecret(engine) };
}

async function searchBlindly(engine: EngineWasm, picture: Raster, expectedOutcome: string): Promise<void> {
  loadPicture(engine, picture);
  engine.runCoarsePass(1, 0, engine.coarseWindowCount.value);
  const { outcome } = decodeCandidates(engine, 0, await refineCandidates(engine, 0, noPause));
  if (outcome !== expectedOutcome) throw new Error(`recovery ended with ${outcome}, expected ${expectedOutcome}`);
}

async function measure<T>(task: () => T | Promise<T>): Promise<{ result: T; milliseconds: number }> {
  const start = process.cpuUsage();
  const result = await task();
  const { user, system } = process.cpuUsage(start);
  return { result, milliseconds: (user + system) / 1000 };
}

function computeSpeedup(baseline: Readonly<Record<string, number>> | undefined): Record<string, number> {
  const simdTimes: Readonly<Record<string, number>> = getMeasurementsAt12Megapixels("simd") ?? {};
  const compared = Object.entries(baseline ?? {}).filter(([step]) => step !== "decode" && step !== "memory_mb");
  return Object.fromEntries(
    compared.map(([step, time]) => [step, Math.round((10 * time) / (simdTimes[step] ?? NaN)) / 10]),
  );
}

function roundValues<K extends string>(values: Readonly<Record<K, number>>): Record<string, number> {
  return Object.fromEntries(Object.entries<number>(values).map(([name, value]) => [name, Math.round(value)]));
}

function roundToThousandths(values: Readonly<Record<string, number>>): Record<string, number> {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, Math.round(value * 1000) / 1000]));
}

function printReport(): void {
  const printRow = (cells: readonly (string | number)[]) => {
    console.log(cells.map((cell) => String(cell).padStart(11)).join(""));
  };
  console.log("milliseconds of processor time; megabytes of the engine's memory\n");
  printRow(["build", "Mpx", ...steps]);
  for (const [name, rows] of Object.entries(measurements))
    for (const [size, row] of Object.entries(rows))
      printRow([name, size, ...steps.map((step) => Math.round(row[step]))]);
  console.log(
    "\nalone, milliseconds: one decoding of 2 errors, of 68 and of what cannot be decoded; the coarse pass, and its windows one by one\n",
  );
  for (const [name, row] of Object.entries(partTimes))
    console.log(`${name.padEnd(12)} ${JSON.stringify(roundToThousandths(row))}`);
  if (referenceTimes === null) console.log("\nThe reference cannot run here: there is no Python with numpy and PIL.");
  else printRow(["reference", 12, ...steps.map((step) => referenceTimes[step] ?? "")]);
}
