/**
 * How long things take: `pnpm bench:engine`. Makes pictures of 1, 12 and 48 megapixels out of a
 * photograph, and measures decoding, enrolment, self-test, aligned recovery, blind recovery and the
 * refusal of another picture: in both builds, in plain JavaScript made of the scalar build, and in
 * the reference where there is a Python with numpy. Processor time, so that a busy machine measures
 * the same; the best of three rounds, but the self-test, which runs once. The decoder and the
 * coarse beacon are measured alone as well, with their tables and without. The last line is JSON;
 * the exit code is 1 when a limit is broken.
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
import { toPictureRows, type Raster } from "../src/rows.ts";
import { decodeCandidates } from "../src/candidates.ts";
import { matchEnrolmentWindow, refineCandidates } from "../src/search.ts";
import { resample } from "../src/self-test/resample.ts";
import { testChangedCopies } from "../src/self-test/self-test.ts";
import { measureParts, measurePlainDecoder, type PartTimes } from "./parts.ts";
import { loadEngineAsJavaScript, timeReference } from "./baselines.ts";

/** Milliseconds with decoding, 12 megapixels, SIMD; bytes of the WASM after gzip. */
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
  const file = await codecs.jpegFile(width === sunset.width ? sunset : resample(sunset, width, height, "bilinear"), 85);
  const { result: picture, time: decode } = await measure(() => codecs.decode(file));
  for (const [name, engine] of Object.entries({ simd, scalar, javascript })) {
    (measurements[name] ??= {})[String(megapixels)] = { decode, ...(await measureEngine(engine, picture)) };
  }
}
const parts: Record<string, Partial<PartTimes>> = { plain: measurePlainDecoder() };
for (const [name, engine] of Object.entries({ simd, scalar, javascript }))
  parts[name] = measureParts(engine, sunset, enrol(engine, sunset).sketch);
const reference = await measureReference();
const wasm = gzipSync(readFileSync(`${engineFolder}/build/engine.simd.wasm`), { level: 9 }).length;

printReport();
const at12Megapixels = (build: string) => measurements[build]?.["12"];
const withDecoding = (step: "aligned" | "blind" | "refusal") =>
  (at12Megapixels("simd")?.decode ?? NaN) + (at12Megapixels("simd")?.[step] ?? NaN);
const measured = {
  aligned: withDecoding("aligned"),
  blind: withDecoding("blind"),
  refusal: withDecoding("refusal"),
  wasm,
};
const exceeded = (Object.keys(limits) as (keyof typeof limits)[]).filter((name) => !(measured[name] <= limits[name]));
for (const name of exceeded) console.log(`over the limit: ${name}`);
console.log(
  JSON.stringify({
    bench: "engine",
    ok: exceeded.length === 0,
    machine: { cpu: cpus()[0]?.model ?? "", cores: cpus().length, node: process.version },
    limits,
    limited: roundValues(measured),
    figures: Object.fromEntries(
      Object.entries(measurements).map(([name, rows]) => [
        name,
        Object.fromEntries(Object.entries(rows).map(([size, row]) => [size, roundValues(row)])),
      ]),
    ),
    parts: Object.fromEntries(Object.entries(parts).map(([name, row]) => [name, roundToThousandths(row)])),
    reference,
    times_faster: {
      than_javascript: computeSpeedup(at12Megapixels("javascript")),
      than_scalar: computeSpeedup(at12Megapixels("scalar")),
      than_reference: reference === null ? null : computeSpeedup(reference),
    },
  }),
);
process.exitCode = exceeded.length === 0 ? 0 : 1;

/**
 * All steps on one picture, the best of the rounds for each. The secret must come back every time.
 */
async function measureEngine(engine: EngineWasm, picture: Raster): Promise<Omit<Measurements, "decode">> {
  const best = { enrol: Infinity, self_test: Infinity, aligned: Infinity, blind: Infinity, refusal: Infinity };
  const measureStep = async <T>(step: keyof typeof best, task: () => T | Promise<T>): Promise<T> => {
    const { result, time } = await measure(task);
    best[step] = Math.min(best[step], time);
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
      if (matchEnrolmentWindow(engine, 1) === null) throw new Error("not recovered");
    });
    await measureStep("blind", () => searchBlindly(engine, picture, "recovered"));
    writeSketch(engine, 0, enrol(engine, picos).sketch);
    await measureStep("refusal", () => searchBlindly(engine, picture, "not_this_picture"));
  }
  engine.wipe();
  return { ...best, memory_mb: engine.memory.buffer.byteLength / 1e6 };
}

/**
 * The reference on the photograph of 12 megapixels; it must give the same secret. Null where it
 * cannot run.
 */
async function measureReference() {
  const times = await timeReference(photoFile("sunset-4272x2848.jpg"));
  if (times === null) return null;
  const matches = Buffer.from(enrol(simd, sunset).secret).toString("hex") === times.image_secret;
  simd.wipe();
  if (!matches) throw new Error("the reference gives another secret");
  return roundValues({ decode: times.decode, enrol: times.enrol, blind: times.blind });
}

function loadPicture(engine: EngineWasm, picture: Raster): void {
  if (!feedPicture(engine, toPictureRows(picture))) throw new Error("the engine refused the picture");
}

function enrol(engine: EngineWasm, picture: Raster) {
  loadPicture(engine, picture);
  engine.analyseWindow(...enrolmentWindow);
  engine.measureGate();
  engine.enrol();
  return { sketch: readSketch(engine), secret: readImageSecret(engine) };
}

/** The whole blind search for the sketch in the first slot. */
async function searchBlindly(engine: EngineWasm, picture: Raster, expectedOutcome: string): Promise<void> {
  loadPicture(engine, picture);
  engine.runCoarsePass(1, 0, engine.coarseWindowCount.value);
  const { outcome } = decodeCandidates(engine, 0, await refineCandidates(engine, 0, noPause));
  if (outcome !== expectedOutcome) throw new Error(`${outcome} instead of ${expectedOutcome}`);
}

async function measure<T>(task: () => T | Promise<T>): Promise<{ result: T; time: number }> {
  const start = process.cpuUsage();
  const result = await task();
  const { user, system } = process.cpuUsage(start);
  return { result, time: (user + system) / 1000 };
}

/** How many times faster the SIMD build is, step by step, at 12 megapixels. */
function computeSpeedup(baseline: Readonly<Record<string, number>> | undefined): Record<string, number> {
  const simdTimes: Readonly<Record<string, number>> = at12Megapixels("simd") ?? {};
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
  for (const [name, row] of Object.entries(parts))
    console.log(`${name.padEnd(12)} ${JSON.stringify(roundToThousandths(row))}`);
  if (reference === null) console.log("\nThe reference cannot run here: there is no Python with numpy and PIL.");
  else printRow(["reference", 12, ...steps.map((step) => reference[step] ?? "")]);
}
