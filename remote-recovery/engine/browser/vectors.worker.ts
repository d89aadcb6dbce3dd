/** Recomputes the vectors inside a browser's worker and reports every difference. Started by run.ts. */
import { decodePicture, type CodecName } from "../../src/engine/decoders/decode.ts";
import type { RecoverResult } from "../../src/engine/engine.ts";
import { copyOut, enrolmentWindow, feedPicture, instantiateEngine, readMeasures, writeSketch, type EngineWasm } from "../../src/engine/engine-wasm.ts";
import { judge } from "../../src/engine/gate.ts";
import { rowsOf, type Raster } from "../../src/engine/rows.ts";
import { decodeCandidates, refineAll } from "../../src/engine/search.ts";
import type { VectorFile } from "./vector-file.ts";

interface Order {
  readonly variant: string;
  readonly modules: Readonly<Record<"engine" | "jpeg" | "png", WebAssembly.Module>>;
  readonly vectors: VectorFile;
  readonly files: ReadonlyMap<string, Uint8Array>;
}

const exifOf: Readonly<Record<string, number>> = {
  "as it is": 1, "rotated 90": 8, "rotated 180": 3, "rotated 270": 6, mirrored: 2, flipped: 4, transposed: 5, transversed: 7,
};
const outcomes: Readonly<Record<RecoverResult["outcome"], string>> = {
  recovered: "recovered", not_this_picture: "not this picture", too_many_errors: "too many errors",
};

globalThis.addEventListener("message", ({ data }: MessageEvent<Order>) => {
  void check(data).then((answer) => {
    globalThis.postMessage(answer);
  });
});

async function check({ modules, vectors, files }: Order): Promise<{ passed: number; failed: readonly string[] }> {
  const wasm = instantiateEngine(modules.engine);
  const failed: string[] = [];
  let passed = 0;
  const same = (name: string, seen: unknown, wanted: unknown) => {
    if (seen === wanted) passed++;
    else failed.push(`${name}: ${String(seen).slice(0, 60)} instead of ${String(wanted).slice(0, 60)}`);
  };
  const near = (name: string, seen: number, wanted: number) => {
    same(name, Math.abs(seen - wanted) <= 1e-5 ? wanted : seen, wanted);
  };
  const read = (file: string): Promise<Raster> => {
    const bytes = files.get(file);
    if (bytes === undefined) throw new Error(`no file ${file}`);
    return decodePicture(bytes, (name: CodecName) => (name === "jpeg" || name === "png" ? Promise.resolve(modules[name]) : Promise.reject(new Error(name))));
  };

  for (const { name, positions, difference, decodes } of vectors.bch.patterns) {
    new Uint8Array(wasm.memory.buffer).set(fromHex(difference), wasm.difference.value);
    same(`bch ${name}`, wasm.decode(), decodes ? positions.length : -1);
  }
  for (const row of vectors.pictures.filter(({ name }) => files.has(name))) {
    const picture = await read(row.name);
    const rgb = new Uint8Array((picture.rgba.length / 4) * 3);
    for (let i = 0, j = 0; i < picture.rgba.length; i += 4) for (let c = 0; c < 3; c++) rgb[j++] = picture.rgba[i + c] ?? 0;
    same(`${row.name} rgb`, await hash(rgb), row.rgb_sha256);
    feedPicture(wasm, rowsOf(picture));
    wasm.look(...enrolmentWindow);
    const part = (address: number, length: number) => hash(copyOut(wasm, address, length));
    same(`${row.name} area table`, await part(wasm.satAddress(), (wasm.satColumns.value + 1) * (wasm.satRows.value + 1) * 8), row.sat_f64le_sha256);
    same(`${row.name} grid`, await part(wasm.grid.value, 128 * 128 * 8), row.grid_f64le_sha256);
    same(`${row.name} coefficients`, await part(wasm.coefficientTable.value, 80 * 80 * 8), row.coefficients_f64le_sha256);
    wasm.enrol();
    same(`${row.name} choice`, toHex(copyOut(wasm, wasm.outChoice.value, 256)), row.choice);
    same(`${row.name} bits`, toHex(copyOut(wasm, wasm.word.value, 256)), row.secret_bits);
    same(`${row.name} syndrome`, toHex(copyOut(wasm, wasm.outSyndrome.value, 86)), row.syndrome);
    same(`${row.name} image secret`, toHex(copyOut(wasm, wasm.outImageSecret.value, 32)), row.image_secret);
    wasm.gate();
    same(`${row.name} gate`, judge(row.width, row.height, readMeasures(wasm)).verdict, row.gate.verdict);
  }

  const searched = [
    ...vectors.orientations.map((row) => ({ ...row, enrolled: row.photo, file: row.photo, turn: exifOf[row.orientation] ?? 0 })),
    ...vectors.stored.map((row) => ({ ...row, turn: 1 })),
    ...vectors.strangers.filter(({ enrolled, shown }) => files.has(enrolled) && files.has(shown)).map((row) => ({ ...row, file: row.shown, turn: 1 })),
  ];
  for (const row of searched) {
    const sought = vectors.pictures.find(({ name }) => name === row.enrolled);
    if (sought === undefined) throw new Error(`no vector of ${row.enrolled}`);
    const name = `${row.enrolled} in ${row.file}, ${String(row.turn)}`;
    feedPicture(wasm, rowsOf({ ...(await read(row.file)), orientation: row.turn }));
    const result = await search(wasm, fromHex(sought.choice), fromHex(sought.syndrome));
    same(`${name} outcome`, outcomes[result.outcome], row.reason);
    near(`${name} score`, result.score, row.score);
    if (result.outcome === "recovered") {
      same(`${name} errors`, result.errors, row.errors);
      same(`${name} image secret`, toHex(result.imageSecretBytes), sought.image_secret);
    }
  }
  return { passed, failed };
}

async function search(wasm: EngineWasm, choice: Uint8Array, syndrome: Uint8Array): Promise<RecoverResult> {
  writeSketch(wasm, 0, { choice, syndrome });
  wasm.coarse(1, 0, wasm.coarseWindows.value);
  return decodeCandidates(wasm, 0, await refineAll(wasm, 0, () => Promise.resolve()));
}

const toHex = (bytes: Uint8Array) => Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
const fromHex = (text: string) => Uint8Array.from(text.match(/../g) ?? [], (pair) => parseInt(pair, 16));
const hash = async (bytes: Uint8Array) => toHex(new Uint8Array(await crypto.subtle.digest("SHA-256", new Uint8Array(bytes))));
