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
import { changes, scaleToLongSide, minPromisedSide } from "./changes.ts";
import { loadCodecs } from "./codecs.ts";
import { Journal, computePictureKey, type PhotoLine, type SearchLine } from "./journal.ts";
import { comparedWindows, Lab } from "./lab.ts";
import { renderReport } from "./report.ts";

const [folder, output = "docs/engine-study.md"] = process.argv.slice(2).filter((argument) => argument !== "--");
if (folder === undefined) {
  console.error("usage: pnpm study:engine -- FOLDER [REPORT.md]");
  process.exit(2);
}
/**
 * Changes start from a copy of at most this many pixels on its long side: full-size encoders would
 * take hours.
 */
const maxWorkingSide = 1400;
const targetSearchCount = 500;

interface StudiedPicture {
  readonly file: string;
  readonly line: PhotoLine;
  readonly sketch: Sketch;
  readonly bits: Uint8Array;
}

const codecs = await loadCodecs();
const lab = await Lab.create();
const journal = new Journal(output.replace(/\.md$/, ".jsonl"));
const gateSources = ["changes.ts", "../src/gate.ts", "../src/self-test/copies.ts", "../src/self-test/self-test.ts"].map(
  (path) => fileURLToPath(new URL(path, import.meta.url)),
);
const sources = [join(await buildEngine(), "sources.sha256"), ...gateSources].map((path) => readFileSync(path));

const startedAt = Date.now();
const log = (message: string) => {
  console.error(`${String(Math.round((Date.now() - startedAt) / 1000)).padStart(5)} s  ${message}`);
};

const studiedPictures: StudiedPicture[] = [];
const skipped: string[] = [];
const files = readdirSync(folder).sort();
for (const [index, file] of files.entries()) {
  const bytes = readFileSync(join(folder, file));
  const picture = await codecs.decode(bytes).catch(() => null);
  if (picture === null || Math.min(picture.width, picture.height) < 64) {
    skipped.push(file);
    continue;
  }
  const enrolledPicture = lab.enrol(picture);
  const key = computePictureKey(bytes, sources);
  const photoLine = journal.getPhoto(key) ?? (await studyPicture(key, picture, enrolledPicture));
  studiedPictures.push({ file, line: photoLine, sketch: enrolledPicture.sketch, bits: enrolledPicture.bits });
  log(`${String(index + 1)} of ${String(files.length)}, ${file}: ${photoLine.gate.verdict}`);
}

/** One photograph: its gate, its self-test, and every change. */
async function studyPicture(key: string, picture: Raster, enrolled: ReturnType<Lab["enrol"]>): Promise<PhotoLine> {
  const { gate, selfTest } = await lab.runSelfTest(picture, enrolled);
  const tries: PhotoLine["tries"] = [];
  if (gate.verdict !== "red") {
    const workingCopy = scaleToLongSide(picture, maxWorkingSide);
    for (const change of changes) {
      const copy = await change.apply(workingCopy, codecs);
      if (change.promised && Math.min(copy.width, copy.height) < minPromisedSide) continue;
      tries.push({ change: change.name, ...(await lab.recover(copy, enrolled, change.hint)) });
    }
  }
  const { verdict, reasons, refusalReasons, width, height, measures } = gate;
  const line: PhotoLine = {
    kind: "photo",
    key,
    gate: { verdict, reasons: [...reasons], redReasons: [...refusalReasons], width, height, measures },
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
for (const [index, subject] of studiedPictures.entries()) {
  const picture = await codecs.decode(readFileSync(join(folder, subject.file)));
  lab.loadPicture(picture);
  for (const window of comparedWindows) {
    for (const distance of lab.measureDistances(
      window,
      studiedPictures.filter((other) => other !== subject),
    )) {
      comparisons++;
      nearest = Math.min(nearest, distance);
    }
  }
  for (const otherIndex of drawPairs(studiedPictures.length)[index] ?? []) {
    const other = studiedPictures[otherIndex];
    if (other === undefined) continue;
    const recorded = journal.getSearch(subject.line.key, other.line.key);
    const searchLine: SearchLine = recorded ?? {
      kind: "search",
      shown: subject.line.key,
      sought: other.line.key,
      ...(await lab.searchOtherPicture(other)),
    };
    if (recorded === undefined) journal.add(searchLine);
    searches.push(searchLine);
  }
  log(`stranger ${String(index + 1)} of ${String(studiedPictures.length)}`);
}

const { markdown, svg } = renderReport(
  {
    pictures: studiedPictures.map(({ file, line }) => ({ file, ...line })),
    skipped,
    changes,
    comparisons,
    nearest,
    searches,
    workingSide: maxWorkingSide,
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
function drawPairs(count: number): readonly (readonly number[])[] {
  let randomState = 1;
  const randomBelow = (n: number) => {
    randomState = (Math.imul(1664525, randomState) + 1013904223) >>> 0;
    return (randomState >>> 8) % n;
  };
  const drawnPairs = Array.from({ length: count }, () => new Set<number>());
  const targetCount = Math.min(targetSearchCount, count * (count - 1));
  for (let drawnCount = 0; drawnCount < targetCount;) {
    const subject = randomBelow(count);
    const otherIndex = (subject + 1 + randomBelow(count - 1)) % count;
    const list = drawnPairs[subject];
    if (list === undefined || list.has(otherIndex)) continue;
    list.add(otherIndex);
    drawnCount++;
  }
  return drawnPairs.map((list) => [...list].sort((a, b) => a - b));
}
