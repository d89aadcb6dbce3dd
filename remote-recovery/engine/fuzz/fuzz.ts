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
import { optionsFor } from "../src/decoders/emscripten.ts";
import { loadEngineInNode } from "../src/load-engine.ts";
import { loadCodecs } from "../study/codecs.ts";
import { gridOf } from "../tests/heif-files.ts";
import { fromHex, makePng, readKind, readPhoto, vectors, type PngOptions } from "../tests/vectors.ts";
import { brokenPicture, bytesOf, type BrokenPicture } from "./damage.ts";

const calls = ["inspect", "recover", "enrol"] as const;
type Call = (typeof calls)[number];
const Whole = z.object({ outcome: z.string(), peak_mb: z.number() });
type Whole = z.infer<typeof Whole>;

/** Milliseconds of processor time of one case; megabytes of the whole process at its largest. */
const limits = { case_ms: 5000, broken_mb: 600, whole_mb: 900 } as const;
const here = fileURLToPath(import.meta.url);
const [first = "10000", second, third] = process.argv.slice(2).filter((word) => word !== "--");

if (first === "whole") {
  console.log(JSON.stringify(await openWhole(second ?? "", calls.find((call) => call === third) ?? "inspect")));
} else {
  const broken = await tryBroken(Number(first), Number(second ?? Date.now() % 2 ** 31));
  const whole = await tryWhole();
  const over = [
    ...(broken.longest_ms > limits.case_ms ? ["case_ms"] : []),
    ...(broken.peak_mb > limits.broken_mb ? ["broken_mb"] : []),
    ...(Object.values(whole).some(({ peak_mb }) => peak_mb > limits.whole_mb) ? ["whole_mb"] : []),
  ];
  for (const name of over) console.log(`over the limit: ${name}`);
  console.log(
    JSON.stringify({ bench: "engine-fuzz", ok: over.length === 0 && broken.untyped === 0, limits, broken, whole }),
  );
  process.exitCode = over.length === 0 && broken.untyped === 0 ? 0 : 1;
}

/** Judged, searched and enrolled by the engine. */
async function tryBroken(cases: number, seed: number) {
  const engine = await loadEngineInNode();
  const made = await engine.enrol(readPhoto("friends-2056x3088.jpg"), []);

  const tryPicture = async (picture: BrokenPicture, call: Call): Promise<string> => {
    const bytes = bytesOf(picture);
    if (call === "recover") return (await engine.recover(bytes, [made.sketch])).outcome;
    if (call === "enrol") return `enrolled ${(await engine.enrol(bytes, [made.sketch])).gate.verdict}`;
    return `${extname(picture.name)} ${(await engine.inspect(bytes)).verdict}`;
  };

  const one = fc.record({
    picture: brokenPicture,
    call: fc
      .integer({ min: 0, max: 19 })
      .map((number): Call => (number < 2 ? "recover" : number < 3 ? "enrol" : "inspect")),
  });
  const outcomes: Record<string, number> = {};
  let longest = 0;
  let untyped = 0;
  let most = 0;
  let count = 0;
  for (const { picture, call } of fc.sample(one, { numRuns: cases, seed })) {
    const before = process.cpuUsage();
    const outcome = await tryPicture(picture, call).catch((error: unknown) => {
      if (error instanceof PortalError) return error.code;
      untyped++;
      console.log(`case ${String(count)} of seed ${String(seed)}: ${String(error)}`);
      return "untyped";
    });
    const { user, system } = process.cpuUsage(before);
    const took = (user + system) / 1000;
    const mostBefore = most;
    most = peak();
    if (took > limits.case_ms || (most > limits.broken_mb && most > mostBefore))
      console.log(
        `case ${String(count)}: ${took.toFixed(0)} ms, ${String(most)} MB: ${JSON.stringify({ call, ...picture, changes: picture.changes.length })}`,
      );
    longest = Math.max(longest, took);
    outcomes[outcome] = (outcomes[outcome] ?? 0) + 1;
    if (++count % 1000 === 0)
      console.log(`${String(count)} cases, longest ${longest.toFixed(0)} ms, at most ${String(peak())} MB`);
  }
  return { cases, seed, untyped, longest_ms: Math.round(longest), peak_mb: peak(), outcomes };
}

/**
 * Megabytes of this process at its largest so far: Linux's own mark, as that of getrusage begins
 * with the parent's.
 */
function peak(): number {
  const mark = /^VmHWM:\s*(\d+) kB$/m.exec(readFileSync("/proc/self/status", "utf8"))?.[1];
  if (mark === undefined) throw new Error("this needs Linux");
  return Math.round((Number(mark) * 1024) / 1e6);
}

/** The largest picture of each kind that is let in, opened in a process of its own. */
async function tryWhole() {
  const folder = mkdtempSync(join(tmpdir(), "relicario-fuzz-"));
  try {
    const whole: Record<string, Whole> = {};
    for (const [name, make] of Object.entries(await largest())) {
      const file = join(folder, name);
      writeFileSync(file, await make());
      for (const call of calls) {
        const { stdout } = await promisify(execFile)(process.execPath, [
          ...process.execArgv,
          here,
          "whole",
          file,
          call,
        ]);
        whole[`${call} ${name}`] = Whole.parse(JSON.parse(stdout));
        console.log(`${call} ${name}: ${stdout.trim()}`);
      }
      rmSync(file);
    }
    return whole;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

async function largest() {
  const codecs = await loadCodecs();
  const encoder = await WebAssembly.compile(
    readFileSync(fileURLToPath(new URL("../node_modules/@jsquash/jpeg/codec/enc/mozjpeg_enc.wasm", import.meta.url))),
  );
  const photo = await codecs.decode(readPhoto("friends-2056x3088.jpg"));
  /**
   * The photograph in another size, by its nearest pixels: as much detail as a picture can have
   * that passes the gate.
   */
  const scaled = (width: number, height: number) => {
    const from = new Uint32Array(photo.rgba.buffer, photo.rgba.byteOffset, photo.width * photo.height);
    const pixels = new Uint32Array(width * height);
    for (let y = 0; y < height; y++) {
      const row = Math.floor((y * photo.height) / height) * photo.width;
      for (let x = 0; x < width; x++) pixels[y * width + x] = from[row + Math.floor((x * photo.width) / width)] ?? 0;
    }
    return { width, height, rgba: new Uint8Array(pixels.buffer), orientation: 1 };
  };
  const jpeg = async (width: number, height: number, options: object) => {
    const codec = await createJpegEncoder(optionsFor(encoder));
    return new Uint8Array(
      codec.encode(scaled(width, height).rgba, width, height, { ...jpegDefaults, quality: 80, ...options }),
    );
  };
  const png = (more: Pick<PngOptions, "colourType" | "depth" | "data"> & Partial<PngOptions>) =>
    Promise.resolve(makePng({ width: 8000, height: 6500, ...more }));
  return {
    "baseline-52.jpg": () => codecs.jpegFile(scaled(8000, 6500), 80),
    "progressive-420-52.jpg": () => jpeg(8000, 6500, { progressive: true, auto_subsample: false, chroma_subsample: 2 }),
    "progressive-444-48.jpg": () => jpeg(8000, 6000, { progressive: true, auto_subsample: false, chroma_subsample: 1 }),
    "rgba-52.png": () => png({ colourType: 6, depth: 8, data: scaled(8000, 6500).rgba }),
    "rgba-16-bit-52.png": () => png({ colourType: 6, depth: 16, data: twice(scaled(8000, 6500).rgba) }),
    "interlaced-52.png": () => png({ colourType: 6, depth: 8, data: scaled(8000, 6500).rgba, interlaced: true }),
    "lossy-52.webp": () => codecs.webpFile(scaled(8000, 6500), 80),
    "lossless-52.webp": () => codecs.webpFile(scaled(8000, 6500), 80, true),
    "large-22.avif": () => codecs.avifFile(scaled(5500, 4100), 60),
    "grid-50.heic": () => Promise.resolve(gridOf(readKind("rocket.heic"), { columns: 26, rows: 28 })),
  };
}

/** Each byte as the high one of two. */
function twice(bytes: Uint8Array): Uint8Array {
  const out = new Uint8Array(2 * bytes.length);
  for (let at = 0; at < bytes.length; at++) out[2 * at] = bytes[at] ?? 0;
  return out;
}

async function openWhole(file: string, call: Call): Promise<Whole> {
  const engine = await loadEngineInNode();
  const bytes = readFileSync(file);
  const rocket = vectors.pictures.find(({ name }) => name === "rocket.jpg");
  if (rocket === undefined) throw new Error("unknown picture");
  const other = { choice: fromHex(rocket.choice), syndrome: fromHex(rocket.syndrome) };
  const work = {
    inspect: async () => (await engine.inspect(bytes)).verdict,
    recover: async () => (await engine.recover(bytes, [other])).outcome,
    enrol: async () => (await engine.enrol(bytes, [other])).gate.verdict,
  };
  const outcome = await work[call]().catch((error: unknown) => {
    if (error instanceof PortalError) return error.code;
    throw error;
  });
  return { outcome, peak_mb: peak() };
}
