/**
 * `pnpm fuzz:engine [cases] [seed]`: opens broken pictures, 10,000 by default, in one process. Each
 * must end in a result or a typed error, within 5 seconds and 600 MB. Then inspects, searches and
 * enrols the largest picture of each kind, each call in its own process within 900 MB. The last
 * line is JSON; the exit code is 1 if a limit is exceeded.
 */
import { PortalError } from "@relicario/shared/errors";
import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { extname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import fc from "fast-check";
import { z } from "zod";
import createJpegEncoder from "@jsquash/jpeg/codec/enc/mozjpeg_enc.js";
import { defaultOptions as jpegDefaults } from "@jsquash/jpeg/meta.js";
import { emscriptenOptions } from "../src/decoders/emscripten.ts";
import { loadEngineInNode } from "../src/load-engine.ts";
import { loadCodecs } from "../study/codecs.ts";
import { makeGridFile } from "../tests/heif-files.ts";
import { fromHex, makePng, readSample, readPhoto, vectors, type PngOptions } from "../tests/vectors.ts";
import { brokenPictureArbitrary, createBrokenBytes, type BrokenPicture } from "./damage.ts";

const calls = ["inspect", "recover", "enrol"] as const;
type Call = (typeof calls)[number];
const LargestPictureResult = z.object({ outcome: z.string(), peak_mb: z.number() });
type LargestPictureResult = z.infer<typeof LargestPictureResult>;

/** `case_ms`: processor time of one case. The others: peak memory of the process in megabytes. */
const limits = { case_ms: 5000, broken_mb: 600, whole_mb: 900 } as const;
const scriptPath = fileURLToPath(import.meta.url);
const [firstArgument = "10000", secondArgument, thirdArgument] = process.argv
  .slice(2)
  .filter((argument) => argument !== "--");

if (firstArgument === "whole") {
  console.log(
    JSON.stringify(
      await openLargestPicture(secondArgument ?? "", calls.find((call) => call === thirdArgument) ?? "inspect"),
    ),
  );
} else {
  const brokenResult = await tryBrokenPictures(Number(firstArgument), Number(secondArgument ?? Date.now() % 2 ** 31));
  const wholeResults = await tryLargestPictures();
  const exceededLimits = [
    ...(brokenResult.longest_ms > limits.case_ms ? ["case_ms"] : []),
    ...(brokenResult.peak_mb > limits.broken_mb ? ["broken_mb"] : []),
    ...(Object.values(wholeResults).some(({ peak_mb }) => peak_mb > limits.whole_mb) ? ["whole_mb"] : []),
  ];
  for (const name of exceededLimits) console.log(`over the limit: ${name}`);
  console.log(
    JSON.stringify({
      bench: "engine-fuzz",
      ok: exceededLimits.length === 0 && brokenResult.untyped === 0,
      limits,
      broken: brokenResult,
      whole: wholeResults,
    }),
  );
  process.exitCode = exceededLimits.length === 0 && brokenResult.untyped === 0 ? 0 : 1;
}

async function tryBrokenPictures(caseCount: number, seed: number) {
  const engine = await loadEngineInNode();
  const enrolment = await engine.enrol(readPhoto("friends-2056x3088.jpg"), []);

  const tryPicture = async (picture: BrokenPicture, call: Call): Promise<string> => {
    const bytes = createBrokenBytes(picture);
    if (call === "recover") return (await engine.recover(bytes, [enrolment.sketch])).outcome;
    if (call === "enrol") return `enrolled ${(await engine.enrol(bytes, [enrolment.sketch])).gate.verdict}`;
    return `${extname(picture.name)} ${(await engine.inspect(bytes)).verdict}`;
  };

  const testCase = fc.record({
    picture: brokenPictureArbitrary,
    call: fc
      .integer({ min: 0, max: 19 })
      .map((number): Call => (number < 2 ? "recover" : number < 3 ? "enrol" : "inspect")),
  });
  const outcomes: Record<string, number> = {};
  let longestMilliseconds = 0;
  let untypedCount = 0;
  let peakMegabytes = 0;
  let count = 0;
  for (const { picture, call } of fc.sample(testCase, { numRuns: caseCount, seed })) {
    const start = process.cpuUsage();
    const outcome = await tryPicture(picture, call).catch((error: unknown) => {
      if (error instanceof PortalError) return error.code;
      untypedCount++;
      console.log(`case ${String(count)} of seed ${String(seed)}: ${String(error)}`);
      return "untyped";
    });
    const { user, system } = process.cpuUsage(start);
    const duration = (user + system) / 1000;
    const previousPeak = peakMegabytes;
    peakMegabytes = readPeakMegabytes();
    if (duration > limits.case_ms || (peakMegabytes > limits.broken_mb && peakMegabytes > previousPeak))
      console.log(
        `case ${String(count)}: ${duration.toFixed(0)} ms, ${String(peakMegabytes)} MB: ${JSON.stringify({ call, ...picture, changes: picture.changes.length })}`,
      );
    longestMilliseconds = Math.max(longestMilliseconds, duration);
    outcomes[outcome] = (outcomes[outcome] ?? 0) + 1;
    if (++count % 1000 === 0)
      console.log(
        `${String(count)} cases, at most ${longestMilliseconds.toFixed(0)} ms and ${String(readPeakMegabytes())} MB`,
      );
  }
  return {
    cases: caseCount,
    seed,
    untyped: untypedCount,
    longest_ms: Math.round(longestMilliseconds),
    peak_mb: readPeakMegabytes(),
    outcomes,
  };
}

/**
 * Peak memory of this process in megabytes, from Linux's VmHWM, because getrusage starts with the
 * parent's peak.
 */
function readPeakMegabytes(): number {
  const peakKilobytes = /^VmHWM:\s*(\d+) kB$/m.exec(readFileSync("/proc/self/status", "utf8"))?.[1];
  if (peakKilobytes === undefined) throw new Error("peak memory can be read only on Linux");
  return Math.round((Number(peakKilobytes) * 1024) / 1e6);
}

/** Runs each call in its own process on the largest accepted picture of each kind. */
async function tryLargestPictures() {
  const folder = mkdtempSync(join(tmpdir(), "relicario-fuzz-"));
  try {
    const whole: Record<string, LargestPictureResult> = {};
    for (const [name, encode] of Object.entries(await listLargestPictures())) {
      const file = join(folder, name);
      writeFileSync(file, await encode());
      for (const call of calls) {
        const { stdout } = await promisify(execFile)(process.execPath, [
          ...process.execArgv,
          scriptPath,
          "whole",
          file,
          call,
        ]);
        whole[`${call} ${name}`] = LargestPictureResult.parse(JSON.parse(stdout));
        console.log(`${call} ${name}: ${stdout.trim()}`);
      }
      rmSync(file);
    }
    return whole;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

async function listLargestPictures() {
  const codecs = await loadCodecs();
  const encoder = await WebAssembly.compile(
    readFileSync(fileURLToPath(new URL("../node_modules/@jsquash/jpeg/codec/enc/mozjpeg_enc.wasm", import.meta.url))),
  );
  const photo = await codecs.decode(readPhoto("friends-2056x3088.jpg"));
  /**
   * Scales the photograph by nearest neighbour, which keeps as much detail as a picture that passes
   * the gate can have.
   */
  const scalePhoto = (width: number, height: number) => {
    const source = new Uint32Array(photo.rgba.buffer, photo.rgba.byteOffset, photo.width * photo.height);
    const pixels = new Uint32Array(width * height);
    for (let y = 0; y < height; y++) {
      const row = Math.floor((y * photo.height) / height) * photo.width;
      for (let x = 0; x < width; x++) pixels[y * width + x] = source[row + Math.floor((x * photo.width) / width)] ?? 0;
    }
    return { width, height, rgba: new Uint8Array(pixels.buffer), orientation: 1 };
  };
  const encodeJpeg = async (width: number, height: number, options: object) => {
    const codec = await createJpegEncoder(emscriptenOptions(encoder));
    return new Uint8Array(
      codec.encode(scalePhoto(width, height).rgba, width, height, { ...jpegDefaults, quality: 80, ...options }),
    );
  };
  const encodePng = (options: Pick<PngOptions, "colourType" | "depth" | "data"> & Partial<PngOptions>) =>
    Promise.resolve(makePng({ width: 8000, height: 6500, ...options }));
  return {
    "baseline-52.jpg": () => codecs.encodeJpeg(scalePhoto(8000, 6500), 80),
    "progressive-420-52.jpg": () =>
      encodeJpeg(8000, 6500, { progressive: true, auto_subsample: false, chroma_subsample: 2 }),
    "progressive-444-48.jpg": () =>
      encodeJpeg(8000, 6000, { progressive: true, auto_subsample: false, chroma_subsample: 1 }),
    "rgba-52.png": () => encodePng({ colourType: 6, depth: 8, data: scalePhoto(8000, 6500).rgba }),
    "rgba-16-bit-52.png": () => encodePng({ colourType: 6, depth: 16, data: to16Bit(scalePhoto(8000, 6500).rgba) }),
    "interlaced-52.png": () =>
      encodePng({ colourType: 6, depth: 8, data: scalePhoto(8000, 6500).rgba, interlaced: true }),
    "lossy-52.webp": () => codecs.encodeWebp(scalePhoto(8000, 6500), 80),
    "lossless-52.webp": () => codecs.encodeWebp(scalePhoto(8000, 6500), 80, true),
    "large-22.avif": () => codecs.encodeAvif(scalePhoto(5500, 4100), 60),
    "grid-50.heic": () => Promise.resolve(makeGridFile(readSample("rocket.heic"), { columns: 26, rows: 28 })),
  };
}

/** Widens each byte to 16 bits; the byte becomes the high byte. */
function to16Bit(bytes: Uint8Array): Uint8Array {
  const out = new Uint8Array(2 * bytes.length);
  for (let i = 0; i < bytes.length; i++) out[2 * i] = bytes[i] ?? 0;
  return out;
}

async function openLargestPicture(file: string, call: Call): Promise<LargestPictureResult> {
  const engine = await loadEngineInNode();
  const bytes = readFileSync(file);
  const rocket = vectors.pictures.find(({ name }) => name === "rocket.jpg");
  if (rocket === undefined) throw new Error("picture not found");
  const otherSketch = { choice: fromHex(rocket.choice), syndrome: fromHex(rocket.syndrome) };
  const operations = {
    inspect: async () => (await engine.inspect(bytes)).verdict,
    recover: async () => (await engine.recover(bytes, [otherSketch])).outcome,
    enrol: async () => (await engine.enrol(bytes, [otherSketch])).gate.verdict,
  };
  const outcome = await operations[call]().catch((error: unknown) => {
    if (error instanceof PortalError) return error.code;
    throw error;
  });
  return { outcome, peak_mb: readPeakMegabytes() };
}
