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
import { rowsOf, type Raster } from "../src/rows.ts";
import { decodeCandidates } from "../src/candidates.ts";
import { lookStraight, refineAll } from "../src/search.ts";
import { resample } from "../src/self-test/resample.ts";
import { selfTest } from "../src/self-test/self-test.ts";
import { measureParts, measurePlainDecoder, type Parts } from "./parts.ts";
import { engineInJavaScript, timeReference } from "./peers.ts";

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
type Figures = Record<(typeof steps)[number], number>;

const simd = instantiateEngine((await loadModulesInNode("simd")).engine);
const scalar = instantiateEngine((await loadModulesInNode("scalar")).engine);
const javascript = await engineInJavaScript(`${engineFolder}/build/engine.scalar.wasm`);

const figures: Record<string, Record<string, Figures>> = {};
for (const [megapixels, width, height] of sizes) {
  const file = await codecs.jpegFile(width === sunset.width ? sunset : resample(sunset, width, height, "bilinear"), 85);
  const { result: picture, time: decode } = await measure(() => codecs.decode(file));
  for (const [name, engine] of Object.entries({ simd, scalar, javascript })) {
    (figures[name] ??= {})[String(megapixels)] = { decode, ...(await measureEngine(engine, picture)) };
  }
}
const parts: Record<string, Partial<Parts>> = { plain: measurePlainDecoder() };
for (const [name, engine] of Object.entries({ simd, scalar, javascript }))
  parts[name] = measureParts(engine, sunset, enrol(engine, sunset).sketch);
const reference = await referenceTimes();
const wasm = gzipSync(readFileSync(`${engineFolder}/build/engine.simd.wasm`), { level: 9 }).length;

print();
const at12 = (build: string) => figures[build]?.["12"];
const withDecoding = (step: "aligned" | "blind" | "refusal") =>
  (at12("simd")?.decode ?? NaN) + (at12("simd")?.[step] ?? NaN);
const limited = {
  aligned: withDecoding("aligned"),
  blind: withDecoding("blind"),
  refusal: withDecoding("refusal"),
  wasm,
};
const broken = (Object.keys(limits) as (keyof typeof limits)[]).filter((name) => !(limited[name] <= limits[name]));
for (const name of broken) console.log(`over the limit: ${name}`);
console.log(
  JSON.stringify({
    bench: "engine",
    ok: broken.length === 0,
    machine: { cpu: cpus()[0]?.model ?? "", cores: cpus().length, node: process.version },
    limits,
    limited: rounded(limited),
    figures: Object.fromEntries(
      Object.entries(figures).map(([name, rows]) => [
        name,
        Object.fromEntries(Object.entries(rows).map(([size, row]) => [size, rounded(row)])),
      ]),
    ),
    parts: Object.fromEntries(Object.entries(parts).map(([name, row]) => [name, thousandths(row)])),
    reference,
    times_faster: {
      than_javascript: faster(at12("javascript")),
      than_scalar: faster(at12("scalar")),
      than_reference: reference === null ? null : faster(reference),
    },
  }),
);
process.exitCode = broken.length === 0 ? 0 : 1;

/**
 * All steps on one picture, the best of the rounds for each. The secret must come back every time.
 */
async function measureEngine(engine: EngineWasm, picture: Raster): Promise<Omit<Figures, "decode">> {
  const best = { enrol: Infinity, self_test: Infinity, aligned: Infinity, blind: Infinity, refusal: Infinity };
  const take = async <T>(step: keyof typeof best, work: () => T | Promise<T>): Promise<T> => {
    const { result, time } = await measure(work);
    best[step] = Math.min(best[step], time);
    return result;
  };
  for (let round = 0; round < rounds; round++) {
    const made = await take("enrol", () => enrol(engine, picture));
    if (round === 0) await take("self_test", () => selfTest(engine, picture, made.sketch, made.secret, noPause));
    await take("aligned", () => {
      open(engine, picture);
      writeSketch(engine, 0, made.sketch);
      if (lookStraight(engine, 1) === null) throw new Error("not recovered");
    });
    await take("blind", () => search(engine, picture, "recovered"));
    writeSketch(engine, 0, enrol(engine, picos).sketch);
    await take("refusal", () => search(engine, picture, "not_this_picture"));
  }
  engine.wipe();
  return { ...best, memory_mb: engine.memory.buffer.byteLength / 1e6 };
}

/**
 * The reference on the photograph of 12 megapixels; it must give the same secret. Null where it
 * cannot run.
 */
async function referenceTimes() {
  const times = await timeReference(photoFile("sunset-4272x2848.jpg"));
  if (times === null) return null;
  const same = Buffer.from(enrol(simd, sunset).secret).toString("hex") === times.image_secret;
  simd.wipe();
  if (!same) throw new Error("the reference gives another secret");
  return rounded({ decode: times.decode, enrol: times.enrol, blind: times.blind });
}

function open(engine: EngineWasm, picture: Raster): void {
  if (!feedPicture(engine, rowsOf(picture))) throw new Error("the engine refused the picture");
}

function enrol(engine: EngineWasm, picture: Raster) {
  open(engine, picture);
  engine.look(...enrolmentWindow);
  engine.gate();
  engine.enrol();
  return { sketch: readSketch(engine), secret: readImageSecret(engine) };
}

/** The whole blind search for the sketch in the first slot. */
async function search(engine: EngineWasm, picture: Raster, wanted: string): Promise<void> {
  open(engine, picture);
  engine.coarse(1, 0, engine.coarseWindows.value);
  const { outcome } = decodeCandidates(engine, 0, await refineAll(engine, 0, noPause));
  if (outcome !== wanted) throw new Error(`${outcome} instead of ${wanted}`);
}

async function measure<T>(work: () => T | Promise<T>): Promise<{ result: T; time: number }> {
  const before = process.cpuUsage();
  const result = await work();
  const { user, system } = process.cpuUsage(before);
  return { result, time: (user + system) / 1000 };
}

/** How many times faster the SIMD build is, step by step, at 12 megapixels. */
function faster(other: Readonly<Record<string, number>> | undefined): Record<string, number> {
  const ours: Readonly<Record<string, number>> = at12("simd") ?? {};
  const compared = Object.entries(other ?? {}).filter(([step]) => step !== "decode" && step !== "memory_mb");
  return Object.fromEntries(compared.map(([step, time]) => [step, Math.round((10 * time) / (ours[step] ?? NaN)) / 10]));
}

function rounded<K extends string>(values: Readonly<Record<K, number>>): Record<string, number> {
  return Object.fromEntries(Object.entries<number>(values).map(([name, value]) => [name, Math.round(value)]));
}

function thousandths(values: Readonly<Record<string, number>>): Record<string, number> {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, Math.round(value * 1000) / 1000]));
}

function print(): void {
  const line = (cells: readonly (string | number)[]) => {
    console.log(cells.map((cell) => String(cell).padStart(11)).join(""));
  };
  console.log("milliseconds of processor time; megabytes of the engine's memory\n");
  line(["build", "Mpx", ...steps]);
  for (const [name, rows] of Object.entries(figures))
    for (const [size, row] of Object.entries(rows)) line([name, size, ...steps.map((step) => Math.round(row[step]))]);
  console.log(
    "\nalone, milliseconds: one decoding of 2 errors, of 68 and of what cannot be decoded; the coarse pass, and its windows one by one\n",
  );
  for (const [name, row] of Object.entries(parts))
    console.log(`${name.padEnd(12)} ${JSON.stringify(thousandths(row))}`);
  if (reference === null) console.log("\nThe reference cannot run here: there is no Python with numpy and PIL.");
  else line(["reference", 12, ...steps.map((step) => reference[step] ?? "")]);
}
