/**
 * The robustness and false-accept tables of the design, made anew from any folder of photographs:
 *
 *   node remote-recovery/engine/study/study.ts FOLDER [REPORT.md]
 *
 * Writes the report and, beside it, a plot (SVG). Reads JPEG, PNG, WebP, AVIF and HEIC; skips what it cannot read.
 */
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { coefficientsOf, Lab, type Enrolled } from "./lab.ts";
import { changes, longSide, shortestPromised } from "./changes.ts";
import { loadCodecs } from "./codecs.ts";
import { report, type ChangeRow, type Study } from "./report.ts";

const [folder, output = "docs/engine-study.md"] = process.argv.slice(2);
if (folder === undefined) {
  console.error("usage: study.ts FOLDER [REPORT.md]");
  process.exit(2);
}
/** Changes start from a copy of at most this many pixels on its long side: full-size encoders would take hours. */
const workingSide = 1400;
const searchesWanted = 500;

const codecs = await loadCodecs();
const lab = await Lab.create();
const enrolled: (Enrolled & { readonly file: string })[] = [];
const skipped: string[] = [];
const rows = new Map<string, ChangeRow>(changes.map(({ name, promised }) => [name, { name, promised, errors: [], failures: [], scores: [] }]));

const started = Date.now();
const say = (words: string) => {
  console.error(`${String(Math.round((Date.now() - started) / 1000)).padStart(5)} s  ${words}`);
};

for (const file of readdirSync(folder).sort()) {
  const picture = await codecs.decode(readFileSync(join(folder, file))).catch(() => null);
  if (picture === null || Math.min(picture.width, picture.height) < 64) {
    skipped.push(file);
    continue;
  }
  const made = await lab.enrol(picture);
  enrolled.push({ ...made, file });
  say(`${file}: ${made.gate.verdict}${made.gate.verdict === "red" ? ` (${made.gate.redReasons.join(", ")})` : ""}`);
  if (made.gate.verdict === "red") continue;
  const working = longSide(picture, workingSide);
  for (const change of changes) {
    const copy = await change.make(working, codecs);
    const withinLimits = change.promised && Math.min(copy.width, copy.height) >= shortestPromised;
    const row = rows.get(change.name);
    if (row === undefined || (change.promised && !withinLimits)) continue;
    const result = await lab.recover(copy, made);
    row.scores.push(result.score);
    if (result.errors === null) row.failures.push(`${file} (${result.outcome}, score ${result.score.toFixed(3)})`);
    else row.errors.push(result.errors);
  }
}

// Bit distances: every picture against every other's sketch, in eight orientations and four windows.
say("bit distances");
let comparisons = 0;
let nearest = 2047;
for (const shown of enrolled) {
  for (const window of coefficientsOf) {
    for (const distance of lab.distances(shown, window, enrolled)) {
      comparisons++;
      nearest = Math.min(nearest, distance);
    }
  }
}

// Full searches of pairs drawn by a fixed generator.
say("full searches");
const strangers: number[] = [];
let accepted = 0;
let nearestSearched = 2047;
let draw = 1;
const below = (n: number) => {
  draw = (Math.imul(1664525, draw) + 1013904223) >>> 0;
  return (draw >>> 8) % n;
};
const pairs = Array.from({ length: enrolled.length < 2 ? 0 : searchesWanted }, () => {
  const shown = below(enrolled.length);
  return { shown, sought: (shown + 1 + below(enrolled.length - 1)) % enrolled.length };
}).sort((a, b) => a.shown - b.shown);
for (const { shown, sought } of pairs) {
  const picture = enrolled[shown];
  const other = enrolled[sought];
  if (picture === undefined || other === undefined) continue;
  const result = await lab.searchStranger(picture, other);
  strangers.push(result.score);
  nearestSearched = Math.min(nearestSearched, result.nearest);
  if (result.accepted) accepted++;
}
say("done");

const study: Study = {
  pictures: enrolled.map(({ file, gate, selfTest }) => ({ file, gate, selfTest })),
  skipped, rows: [...rows.values()], comparisons, nearest,
  searches: { scores: strangers, accepted, nearest: nearestSearched },
  workingSide,
};
const { markdown, svg } = report(study, basename(output).replace(/\.md$/, ".svg"));
writeFileSync(output, markdown);
writeFileSync(output.replace(/\.md$/, ".svg"), svg);
