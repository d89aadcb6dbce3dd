/**
 * Broken pictures and helpers in numbers: `pnpm fuzz:engine [cases] [seed]`, 10,000 unless told. Each ends in an answer or in a
 * typed error, within 5 seconds and 600 MB. Then the largest whole pictures of each kind, within 900 MB. One process for the
 * broken ones, one for each whole picture. The last line is JSON; the exit code is 1 when a limit is broken.
 */
import { PortalError } from "@relicario/shared/errors";
import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { extname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import fc from "fast-check";
import createJpegEncoder from "@jsquash/jpeg/codec/enc/mozjpeg_enc.js";
import { defaultOptions as jpegDefaults } from "@jsquash/jpeg/meta.js";
import { optionsFor } from "../../src/engine/decoders/emscripten.ts";
import { loadEngineInNode } from "../../src/engine/load-engine.ts";
import { makeHelper, openHelper, parseHelper, sketchOf } from "../../src/vault/seal/helper.ts";
import { loadCodecs } from "../study/codecs.ts";
import { makePng, readKind } from "../tests/vectors.ts";
import { corpus, damage, damaged } from "./damage.ts";

/** Milliseconds of processor time of one case; megabytes of the whole process at its largest. */
const limits = { case_ms: 5000, broken_mb: 600, whole_mb: 900 } as const;
const here = fileURLToPath(import.meta.url);
const [first = "10000", second] = process.argv.slice(2).filter((word) => word !== "--");

if (first === "whole") {
  console.log(JSON.stringify(await openWhole(second ?? "")));
} else {
  const broken = await tryBroken(Number(first), Number(second ?? Date.now() % 2 ** 31));
  const whole = await tryWhole();
  const over = [
    ...(broken.longest_ms > limits.case_ms ? ["case_ms"] : []),
    ...(broken.peak_mb > limits.broken_mb ? ["broken_mb"] : []),
    ...(Object.values(whole).some(({ peak_mb }) => peak_mb > limits.whole_mb) ? ["whole_mb"] : []),
  ];
  for (const name of over) console.log(`over the limit: ${name}`);
  console.log(JSON.stringify({ bench: "engine-fuzz", ok: over.length === 0 && broken.untyped === 0, limits, broken, whole }));
  process.exitCode = over.length === 0 && broken.untyped === 0 ? 0 : 1;
}

/** Three in four are pictures, judged and searched by the engine; the rest helpers, read and opened with the right picture's secret. */
async function tryBroken(cases: number, seed: number) {
  const engine = await loadEngineInNode();
  const made = await engine.enrol(readKind("../../../../e2e/fixtures/photos/friends-2056x3088.jpg"), []);
  const imageSecret = new Uint8Array(made.imageSecretBytes);
  const helpers = [(await makeHelper(imageSecret, made.sketch, null)).helper, (await makeHelper(imageSecret, made.sketch, "long words")).helper];

  const tryPicture = async (name: (typeof corpus)[number], bytes: Uint8Array, search: boolean): Promise<string> => {
    if (search) return (await engine.recover(bytes, [made.sketch])).outcome;
    return `${extname(name)} ${(await engine.inspect(bytes)).verdict}`;
  };
  const tryHelper = async (bytes: Uint8Array): Promise<string> => {
    const helper = parseHelper(bytes);
    if (helper.encrypted) return "read"; // opening it would try Argon2id, not us
    await openHelper(helper, await sketchOf(helper, null), imageSecret, null);
    return "opened";
  };

  const one = fc.record({
    what: fc.constantFrom("picture", "picture", "picture", "helper"),
    name: fc.constantFrom(...corpus),
    helper: fc.constantFrom(...helpers),
    changes: fc.array(damage, { minLength: 1, maxLength: 4 }),
    search: fc.integer({ min: 0, max: 9 }).map((number) => number === 0),
  });
  const outcomes: Record<string, number> = {};
  let longest = 0;
  let untyped = 0;
  let count = 0;
  for (const { what, name, helper, changes, search } of fc.sample(one, { numRuns: cases, seed })) {
    const bytes = changes.reduce<Uint8Array>(damaged, what === "picture" ? readKind(name) : helper);
    const before = process.cpuUsage();
    const outcome = await (what === "picture" ? tryPicture(name, bytes, search) : tryHelper(bytes)).catch((error: unknown) => {
      if (error instanceof PortalError) return error.code;
      untyped++;
      console.log(`case ${String(count)} of seed ${String(seed)}: ${String(error)}`);
      return "untyped";
    });
    const { user, system } = process.cpuUsage(before);
    longest = Math.max(longest, (user + system) / 1000);
    outcomes[`${what}: ${outcome}`] = (outcomes[`${what}: ${outcome}`] ?? 0) + 1;
    if (++count % 1000 === 0) console.log(`${String(count)} cases, longest ${longest.toFixed(0)} ms, at most ${String(peak())} MB`);
  }
  return { cases, seed, untyped, longest_ms: Math.round(longest), peak_mb: peak(), outcomes };
}

/** Megabytes of this process at its largest so far. */
function peak(): number {
  return Math.round((process.resourceUsage().maxRSS * 1024) / 1e6);
}

/** The largest picture of each kind that is let in, opened in a process of its own. */
async function tryWhole() {
  const folder = mkdtempSync(join(tmpdir(), "relicario-fuzz-"));
  try {
    const whole: Record<string, { outcome: string; peak_mb: number }> = {};
    for (const [name, make] of Object.entries(await largest())) {
      const file = join(folder, name);
      writeFileSync(file, await make());
      const { stdout } = await promisify(execFile)(process.execPath, [...process.execArgv, here, "whole", file]);
      whole[name] = JSON.parse(stdout) as { outcome: string; peak_mb: number };
      console.log(`${name}: ${JSON.stringify(whole[name])}`);
      rmSync(file);
    }
    return whole;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

async function largest() {
  const codecs = await loadCodecs();
  const encoder = await WebAssembly.compile(readFileSync(fileURLToPath(new URL("../../node_modules/@jsquash/jpeg/codec/enc/mozjpeg_enc.wasm", import.meta.url))));
  const texture = (width: number, height: number) => {
    const rgba = new Uint8Array(width * height * 4);
    for (let i = 0; i < rgba.length; i++) rgba[i] = (i & 3) === 3 ? 255 : (Math.imul(i >> 4, 2654435761) >>> 24) ^ (i >> 13);
    return { width, height, rgba, orientation: 1 };
  };
  const jpeg = async (width: number, height: number, options: object) => {
    const codec = await createJpegEncoder(optionsFor(encoder));
    return new Uint8Array(codec.encode(texture(width, height).rgba, width, height, { ...jpegDefaults, quality: 80, ...options }));
  };
  return {
    "baseline-52.jpg": () => codecs.jpegFile(texture(8000, 6500), 80),
    "progressive-444-48.jpg": () => jpeg(8000, 6000, { progressive: true, auto_subsample: false, chroma_subsample: 1 }),
    "rgba-52.png": () => Promise.resolve(makePng({ width: 8000, height: 6500, colourType: 6, depth: 8, data: texture(8000, 6500).rgba })),
    "lossy-52.webp": () => codecs.webpFile(texture(8000, 6500), 80),
    "large-22.avif": () => codecs.avifFile(texture(5500, 4000), 60),
  };
}

async function openWhole(file: string): Promise<{ outcome: string; peak_mb: number }> {
  const engine = await loadEngineInNode();
  const outcome = await engine.inspect(readFileSync(file)).then(
    ({ verdict }) => verdict,
    (error: unknown) => {
      if (error instanceof PortalError) return error.code;
      throw error;
    },
  );
  return { outcome, peak_mb: peak() };
}
