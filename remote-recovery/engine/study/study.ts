/**
 * `pnpm study:engine -- FOLDER [REPORT.md]`: measures robustness and false accepts on a folder of
 * photographs.
 *
 * Writes the report and, next to it, a plot (SVG). Reads JPEG, PNG, WebP, AVIF and HEIC; skips
 * files that it cannot read. Takes about fifteen seconds per photograph that the gate accepts.
 * Continues an interrupted study from REPORT.jsonl.
 */
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Sketch } from "../src/engine.ts";
import type { Raster } from "../src/picture-rows.ts";
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
/** Long side in pixels of the picture that is changed. Encoding at full size would take hours. */
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
const gateSources = [
  "changes.ts",
  "../src/gate.ts",
  "../src/drawn.ts",
  "../src/self-test/copies.ts",
  "../src/self-test/self-test.ts",
].map((path) => fileURLToPath(new URL(path, import.meta.url)));
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

// Compares each picture with all others by bit distance, in eight orientations and four windows,
// and searches it for some of the others.
const searches: SearchLine[] = [];
let comparisons = 0;
let nearest = 2047;
for (const [index, shownPicture] of studiedPictures.entries()) {
  const picture = await codecs.decode(readFileSync(join(folder, shownPicture.file)));
  lab.loadPicture(picture);
  for (const window of comparedWindows) {
    for (const distance of lab.measureDistances(
      window,
      studiedPictures.filter((other) => other !== shownPicture),
    )) {
      comparisons++;
      nearest = Math.min(nearest, distance);
    }
  }
  for (const otherIndex of drawPairs(studiedPictures.length)[index] ?? []) {
    const other = studiedPictures[otherIndex];
    if (other === undefined) continue;
    const recordedLine = journal.getSearch(shownPicture.line.key, other.line.key);
    const searchLine: SearchLine = recordedLine ?? {
      kind: "search",
      shown: shownPicture.line.key,
      sought: other.line.key,
      ...(await lab.searchOtherPicture(other)),
    };
    if (recordedLine === undefined) journal.add(searchLine);
    searches.push(searchLine);
  }
  log(`compared ${String(index + 1)} of ${String(studiedPictures.length)}`);
}

const { markdown, svg } = renderReport(
  {
    pictures: studiedPictures.map(({ file, line }) => ({ file, ...line })),
    skipped,
    changes,
    comparisonCount: comparisons,
    nearestDistance: nearest,
    searches,
    workingSide: maxWorkingSide,
  },
  basename(output).replace(/\.md$/, ".svg"),
);
writeFileSync(output, markdown);
writeFileSync(output.replace(/\.md$/, ".svg"), svg);
journal.remove();

/**
 * For each picture, the indices of the pictures to search for in it: distinct pairs from a seeded
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
    const shownIndex = randomBelow(count);
    const otherIndex = (shownIndex + 1 + randomBelow(count - 1)) % count;
    const soughtIndices = drawnPairs[shownIndex];
    if (soughtIndices === undefined || soughtIndices.has(otherIndex)) continue;
    soughtIndices.add(otherIndex);
    drawnCount++;
  }
  return drawnPairs.map((soughtIndices) => [...soughtIndices].sort((a, b) => a - b));
}
