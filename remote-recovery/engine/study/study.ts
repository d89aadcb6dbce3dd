/**
 * The robustness and false-accept tables of the design, made anew from any folder of photographs:
 *
 *   pnpm study:engine -- FOLDER [REPORT.md]
 *
 * Writes the report and, beside it, a plot (SVG). Reads JPEG, PNG, WebP, AVIF and HEIC; skips what
 * it cannot read. Takes about fifteen seconds for each photograph that the gate accepts. Ended
 * early, it goes on where it stood (REPORT.jsonl).
 */
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Sketch } from "../src/engine.ts";
import type { Raster } from "../src/rows.ts";
import { buildEngine } from "../build.ts";
import { changes, longSide, shortestPromised } from "./changes.ts";
import { loadCodecs } from "./codecs.ts";
import { Journal, keyOf, type PhotoLine, type SearchLine } from "./journal.ts";
import { comparedWindows, Lab } from "./lab.ts";
import { report } from "./report.ts";

const [folder, output = "docs/engine-study.md"] = process.argv.slice(2).filter((word) => word !== "--");
if (folder === undefined) {
  console.error("usage: pnpm study:engine -- FOLDER [REPORT.md]");
  process.exit(2);
}
/**
 * Changes start from a copy of at most this many pixels on its long side: full-size encoders would
 * take hours.
 */
const workingSide = 1400;
const searchesWanted = 500;

interface Read {
  readonly file: string;
  readonly line: PhotoLine;
  readonly sketch: Sketch;
  readonly bits: Uint8Array;
}

const codecs = await loadCodecs();
const lab = await Lab.create();
const journal = new Journal(output.replace(/\.md$/, ".jsonl"));
const judging = ["changes.ts", "../src/gate.ts", "../src/self-test/copies.ts", "../src/self-test/self-test.ts"].map(
  (path) => fileURLToPath(new URL(path, import.meta.url)),
);
const sources = [join(await buildEngine(), "sources.sha256"), ...judging].map((path) => readFileSync(path));

const started = Date.now();
const say = (words: string) => {
  console.error(`${String(Math.round((Date.now() - started) / 1000)).padStart(5)} s  ${words}`);
};

const read: Read[] = [];
const skipped: string[] = [];
const files = readdirSync(folder).sort();
for (const [index, file] of files.entries()) {
  const bytes = readFileSync(join(folder, file));
  const picture = await codecs.decode(bytes).catch(() => null);
  if (picture === null || Math.min(picture.width, picture.height) < 64) {
    skipped.push(file);
    continue;
  }
  const made = lab.enrol(picture);
  const key = keyOf(bytes, sources);
  const line = journal.photo(key) ?? (await study(key, picture, made));
  read.push({ file, line, sketch: made.sketch, bits: made.bits });
  say(`${String(index + 1)} of ${String(files.length)}, ${file}: ${line.gate.verdict}`);
}

/** One photograph: its gate, its self-test, and every change. */
async function study(key: string, picture: Raster, made: ReturnType<Lab["enrol"]>): Promise<PhotoLine> {
  const { gate, selfTest } = await lab.test(picture, made);
  const tries: PhotoLine["tries"] = [];
  if (gate.verdict !== "red") {
    const working = longSide(picture, workingSide);
    for (const change of changes) {
      const copy = await change.make(working, codecs);
      if (change.promised && Math.min(copy.width, copy.height) < shortestPromised) continue;
      tries.push({ change: change.name, ...(await lab.recover(copy, made, change.hint)) });
    }
  }
  const { verdict, reasons, redReasons, width, height, measures } = gate;
  const line: PhotoLine = {
    kind: "photo",
    key,
    gate: { verdict, reasons: [...reasons], redReasons: [...redReasons], width, height, measures },
    selfTest,
    tries,
  };
  journal.add(line);
  return line;
}

// Each picture as a stranger: bit distances to all others, in eight orientations and four windows,
// and full searches for some.
const searches: SearchLine[] = [];
let comparisons = 0;
let nearest = 2047;
for (const [index, shown] of read.entries()) {
  const picture = await codecs.decode(readFileSync(join(folder, shown.file)));
  lab.show(picture);
  for (const window of comparedWindows) {
    for (const distance of lab.distances(
      window,
      read.filter((other) => other !== shown),
    )) {
      comparisons++;
      nearest = Math.min(nearest, distance);
    }
  }
  for (const sought of pairs(read.length)[index] ?? []) {
    const other = read[sought];
    if (other === undefined) continue;
    const known = journal.search(shown.line.key, other.line.key);
    const line: SearchLine = known ?? {
      kind: "search",
      shown: shown.line.key,
      sought: other.line.key,
      ...(await lab.searchStranger(other)),
    };
    if (known === undefined) journal.add(line);
    searches.push(line);
  }
  say(`stranger ${String(index + 1)} of ${String(read.length)}`);
}

const { markdown, svg } = report(
  {
    pictures: read.map(({ file, line }) => ({ file, ...line })),
    skipped,
    changes,
    comparisons,
    nearest,
    searches,
    workingSide,
  },
  basename(output).replace(/\.md$/, ".svg"),
);
writeFileSync(output, markdown);
writeFileSync(output.replace(/\.md$/, ".svg"), svg);
journal.remove();

/**
 * For each picture the numbers of those that are sought in it: different pairs, drawn by a fixed
 * generator.
 */
function pairs(count: number): readonly (readonly number[])[] {
  let x = 1;
  const below = (n: number) => {
    x = (Math.imul(1664525, x) + 1013904223) >>> 0;
    return (x >>> 8) % n;
  };
  const drawn = Array.from({ length: count }, () => new Set<number>());
  const wanted = Math.min(searchesWanted, count * (count - 1));
  for (let have = 0; have < wanted;) {
    const shown = below(count);
    const sought = (shown + 1 + below(count - 1)) % count;
    const list = drawn[shown];
    if (list === undefined || list.has(sought)) continue;
    list.add(sought);
    have++;
  }
  return drawn.map((list) => [...list].sort((a, b) => a - b));
}
