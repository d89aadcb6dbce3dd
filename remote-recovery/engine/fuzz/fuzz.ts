/**
 * Broken pictures in numbers: `pnpm fuzz:engine [cases] [seed]`, 10,000 unless told. Each ends in
 * an answer or in a typed error, within 5 seconds and 600 MB. Then the largest whole pictures of
 * each kind, judged, searched and enrolled, within 900 MB. One process for the broken ones, one for
 * each whole picture and call. The last line is JSON; the exit code is 1 when a limit is broken.
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
const WholeResult = z.object({ outcome: z.string(), peak_mb: z.number() });
type WholeResult = z.infer<typeof WholeResult>;

/** Milliseconds of processor time of one case; megabytes of the whole process at its largest. */
const limits = { case_ms: 5000, broken_mb: 600, whole_mb: 900 } as const;
const scriptPath = fileURLToPath(import.meta.url);
const [firstArgument = "10000", secondArgument, thirdArgument] = process.argv.slice(2).filter((word) => word !== "--");

if (firstArgument === "whole") {
  console.log(
    JSON.stringify(
      await openLargestPicture(secondArgument ?? "", calls.find((call) => call === thirdArgument) ?? "inspect"),
    ),
  );
} else {
  const broken = await tryBrokenPictures(Number(firstArgument), Number(secondArgument ?? Date.now() % 2 ** 31));
  const whole = await tryLargestPictures();
  const exceeded = [
    ...(broken.longest_ms > limits.case_ms ? ["case_ms"] : []),
    ...(broken.peak_mb > limits.broken_mb ? ["broken_mb"] : []),
    ...(Object.values(whole).some(({ peak_mb }) => peak_mb > limits.whole_mb) ? ["whole_mb"] : []),
  ];
  for (const name of exceeded) console.log(`over the limit: ${name}`);
  console.log(
    JSON.stringify({ bench: "engine-fuzz", ok: exceeded.length === 0 && broken.untyped === 0, limits, broken, whole }),
  );
  process.exitCode = exceeded.length === 0 && broken.untyped === 0 ? 0 : 1;
}

/** Judged, searched and enrolled by the engine. */
async function tryBrokenPictures(cases: number, seed: number) {
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
  let longest = 0;
  let untyped = 0;
  let peakMegabytes = 0;
  let count = 0;
  for (const { picture, call } of fc.sample(testCase, { numRuns: cases, seed })) {
    const start = process.cpuUsage();
    const outcome = await tryPicture(picture, call).catch((error: unknown) => {
      if (error instanceof PortalError) return error.code;
      untyped++;
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
    longest = Math.max(longest, duration);
    outcomes[outcome] = (outcomes[outcome] ?? 0) + 1;
    if (++count % 1000 === 0)
      console.log(
        `${String(count)} cases, longest ${longest.toFixed(0)} ms, at most ${String(readPeakMegabytes())} MB`,
      );
  }
  return { cases, seed, untyped, longest_ms: Math.round(longest), peak_mb: readPeakMegabytes(), outcomes };
}

/**
 * Megabytes of this process at its largest so far: Linux's own mark, as that of getrusage begins
 * with the parent's.
 */
function readPeakMegabytes(): number {
  const mark = /^VmHWM:\s*(\d+) kB$/m.exec(readFileSync("/proc/self/status", "utf8"))?.[1];
  if (mark === undefined) throw new Error("this needs Linux");
  return Math.round((Number(mark) * 1024) / 1e6);
}

/** The largest picture of each kind that is let in, opened in a process of its own. */
async function tryLargestPictures() {
  const folder = mkdtempSync(join(tmpdir(), "relicario-fuzz-"));
  try {
    const whole: Record<string, WholeResult> = {};
    for (const [name, encode] of Object.entries(await largestPictures())) {
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
        whole[`${call} ${name}`] = WholeResult.parse(JSON.parse(stdout));
        console.log(`${call} ${name}: ${stdout.trim()}`);
      }
      rmSync(file);
    }
    return whole;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

async function largestPictures() {
  const codecs = await loadCodecs();
  const encoder = await WebAssembly.compile(
    readFileSync(fileURLToPath(new URL("../node_modules/@jsquash/jpeg/codec/enc/mozjpeg_enc.wasm", import.meta.url))),
  );
  const photo = await codecs.decode(readPhoto("friends-2056x3088.jpg"));
  /**
   * The photograph in another size, by its nearest pixels: as much detail as a picture can have
   * that passes the gate.
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
    "baseline-52.jpg": () => codecs.jpegFile(scalePhoto(8000, 6500), 80),
    "progressive-420-52.jpg": () =>
      encodeJpeg(8000, 6500, { progressive: true, auto_subsample: false, chroma_subsample: 2 }),
    "progressive-444-48.jpg": () =>
      encodeJpeg(8000, 6000, { progressive: true, auto_subsample: false, chroma_subsample: 1 }),
    "rgba-52.png": () => encodePng({ colourType: 6, depth: 8, data: scalePhoto(8000, 6500).rgba }),
    "rgba-16-bit-52.png": () => encodePng({ colourType: 6, depth: 16, data: to16Bit(scalePhoto(8000, 6500).rgba) }),
    "interlaced-52.png": () =>
      encodePng({ colourType: 6, depth: 8, data: scalePhoto(8000, 6500).rgba, interlaced: true }),
    "lossy-52.webp": () => codecs.webpFile(scalePhoto(8000, 6500), 80),
    "lossless-52.webp": () => codecs.webpFile(scalePhoto(8000, 6500), 80, true),
    "large-22.avif": () => codecs.avifFile(scalePhoto(5500, 4100), 60),
    "grid-50.heic": () => Promise.resolve(makeGridFile(readSample("rocket.heic"), { columns: 26, rows: 28 })),
  };
}

/** Each byte as the high one of two. */
function to16Bit(bytes: Uint8Array): Uint8Array {
  const out = new Uint8Array(2 * bytes.length);
  for (let i = 0; i < bytes.length; i++) out[2 * i] = bytes[i] ?? 0;
  return out;
}

async function openLargestPicture(file: string, call: Call): Promise<WholeResult> {
  const engine = await loadEngineInNode();
  const bytes = readFileSync(file);
  const rocket = vectors.pictures.find(({ name }) => name === "rocket.jpg");
  if (rocket === undefined) throw new Error("unknown picture");
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
