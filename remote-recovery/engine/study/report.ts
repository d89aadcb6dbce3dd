import { GateReason } from "../src/engine.ts";
import type { Change } from "./changes.ts";
import { lowerBound } from "./bounds.ts";
import type { PhotoLine, SearchLine } from "./journal.ts";

export interface Study {
  readonly pictures: readonly (PhotoLine & { readonly file: string })[];
  readonly skipped: readonly string[];
  readonly changes: readonly Change[];
  readonly comparisons: number;
  readonly nearest: number;
  readonly searches: readonly SearchLine[];
  readonly workingSide: number;
}

interface ChangeRow {
  readonly name: string;
  readonly promised: boolean;
  readonly errors: readonly number[];
  readonly failures: readonly string[];
  readonly scores: readonly number[];
}

const formatPercent = (fraction: number) => `${(100 * fraction).toFixed(1)} %`;
const sorted = (list: readonly number[]) => list.toSorted((a, b) => a - b);
const quantile = (list: readonly number[], fraction: number) =>
  sorted(list)[Math.round(fraction * (list.length - 1))] ?? NaN;
const maximum = (list: readonly number[]) => (list.length === 0 ? "" : String(Math.max(...list)));
const formatScore = (value: number) => (!Number.isFinite(value) ? "" : value.toFixed(3));

/** The study as Markdown, and its plot. */
export function renderReport(study: Study, plotFile: string): { markdown: string; svg: string } {
  const { pictures, searches } = study;
  const marginalPictures = pictures.filter(({ gate }) => failsAtEdge(gate));
  const rows = study.changes.map((change) =>
    changeRow(
      change,
      pictures.filter(({ gate }) => !failsAtEdge(gate)),
    ),
  );
  const countVerdicts = (verdict: string) => pictures.filter(({ gate }) => gate.verdict === verdict).length;
  const bySelfTest = pictures.filter(
    ({ gate: { redReasons } }) => redReasons.length > 0 && redReasons.every((reason) => reason === GateReason.selfTest),
  ).length;
  const genuine = rows.filter(({ promised }) => promised).flatMap(({ scores }) => scores);
  const promisedRows = rows.filter(({ promised }) => promised);
  const tries = promisedRows.reduce((sum, { errors, failures }) => sum + errors.length + failures.length, 0);
  const failures = promisedRows.flatMap(({ name, failures: list }) => list.map((failure) => `${name}: ${failure}`));
  const otherScores = searches.map(({ score: value }) => value);
  const tableRow = ({ name, errors, failures: failed, scores }: ChangeRow) => {
    const n = errors.length + failed.length;
    return `| ${name} | ${String(errors.length)}/${String(n)} | ${formatPercent(lowerBound(errors.length, n))} | ${errors.length === 0 ? "" : String(quantile(errors, 0.5))} | ${maximum(errors)} | ${formatScore(Math.min(...scores))} |`;
  };
  const markdown = `# Study of the image engine

Made by \`pnpm study:engine -- <folder>\`, which anybody can run over their own photographs. Blind recovery throughout: crop, turn and mirror
are not known, and the same framing is not tried first. Every change starts from a copy of at most ${String(study.workingSide)} pixels on its long side, enrolment
from the file itself. Codecs: mozjpeg (baseline, 4:2:0), libwebp, libavif.

${String(pictures.length)} pictures: ${String(countVerdicts("green"))} green, ${String(countVerdicts("amber"))} amber, ${String(marginalPictures.length)} of them with a copy at the edge of the promise that failed, ${String(countVerdicts("red"))} red, ${String(bySelfTest)} of them by the self-test alone${study.skipped.length === 0 ? "" : `; ${String(study.skipped.length)} not read`}. Green and amber ones are changed and recovered.

![Beacon scores and errors](${plotFile})

## Does a copy recover?

${String(tries - failures.length)} of ${String(tries)} promised changes. The bound is the lower end of the exact one-sided 95 % interval.

| change | recovered | bound | errors, median | errors, most (of 68) | least score |
| --- | --- | --- | --- | --- | --- |
${rows.map(tableRow).join("\n")}

Of green pictures and of those that are amber by what was measured.

${failures.length === 0 ? "No failure in a promised row." : `Failures in promised rows:\n\n${failures.map((failure) => `- ${failure}`).join("\n")}`}

## What of pictures that fail at the edge of the promise alone?

They need a passphrase, and the person is told which copies do not open ([0078](decisions/0078-amber-at-the-edge-of-the-promise.md)). These are the promised changes once more.

${edgeTable(marginalPictures, new Set(promisedRows.map(({ name }) => name)))}

## Does another picture open it?

- ${study.comparisons.toLocaleString("en")} comparisons by bit distance (pairs × 8 orientations × 4 windows): never nearer than ${String(study.nearest)} of 2047 bits.
- ${String(searches.length)} full searches of random pairs: ${String(searches.filter(({ accepted }) => accepted).length)} accepted, never nearer than ${String(Math.min(...searches.map(({ nearest }) => nearest)))} bits.

| beacon score | least | 1 % | median | 99 % | most |
| --- | --- | --- | --- | --- | --- |
| promised copies | ${[0, 0.01, 0.5, 0.99, 1].map((fraction) => formatScore(quantile(genuine, fraction))).join(" | ")} |
| other pictures | ${[0, 0.01, 0.5, 0.99, 1].map((fraction) => formatScore(quantile(otherScores, fraction))).join(" | ")} |

The floor is 0.20. The highest score of another picture is ${formatScore(0.2 - quantile(otherScores, 1))} below it, the least of a promised copy ${formatScore(quantile(genuine, 0) - 0.2)} above it. A score
over the floor opens nothing by itself: it only has the secret bits compared, and there another picture would have to come within 68 of 2047;
the nearest that was seen is in the list above.

## What the gate says

| picture | pixels | gate | coverage | spread | median | tenth | estimate | errors in the self-test |
| --- | --- | --- | --- | --- | --- | --- | --- | --- |
${pictures.map(({ file, gate: { verdict, reasons, redReasons, width, height, measures: m }, selfTest }) => `| ${file} | ${String(width)} × ${String(height)} | ${describeVerdict(verdict, verdict === "red" ? redReasons : reasons.filter((reason) => edgeReasons.includes(reason)))} | ${m.coverage.toFixed(2)} | ${m.spread.toFixed(0)} | ${m.median.toFixed(1)} | ${m.tenth.toFixed(1)} | ${m.estimate.toFixed(2)} | ${selfTest?.map((errors) => errors ?? "none").join(", ") ?? ""} |`).join("\n")}
`;
  return { markdown, svg: renderPlot(rows, otherScores, genuine) };
}

const edgeReasons: readonly string[] = [GateReason.copyBright, GateReason.copySmall];

function failsAtEdge({ verdict, reasons }: PhotoLine["gate"]): boolean {
  return verdict === "amber" && reasons.some((reason) => edgeReasons.includes(reason));
}

function describeVerdict(verdict: string, reasons: readonly string[]): string {
  return reasons.length === 0 ? verdict : `${verdict}: ${reasons.join(", ")}`;
}

/** A row for each picture, with what did not recover, and one for all of them. */
function edgeTable(pictures: Study["pictures"], promised: ReadonlySet<string>): string {
  if (pictures.length === 0) return "None in this folder.";
  const rows = pictures.map(({ file, gate, tries }) => ({
    file,
    failingReasons: gate.reasons.filter((reason) => edgeReasons.includes(reason)),
    tries: tries.filter(({ change }) => promised.has(change)),
  }));
  const all = { file: "all of them", failingReasons: [], tries: rows.flatMap(({ tries }) => tries) };
  const tableRow = ({ file, failingReasons, tries }: (typeof rows)[number]) => {
    const errors = tries.flatMap(({ errors: count }) => count ?? []);
    const failed = [...new Set(tries.filter(({ errors: count }) => count === null).map(({ change }) => change))];
    return `| ${file} | ${failingReasons.join(", ")} | ${String(errors.length)}/${String(tries.length)} | ${maximum(errors)} | ${failed.join("; ")} |`;
  };
  return `| picture | what fails | recovered | errors, most (of 68) | not recovered |
| --- | --- | --- | --- | --- |
${[...rows, all].map(tableRow).join("\n")}`;
}

/** All tries of one change. */
function changeRow({ name, promised }: Change, pictures: Study["pictures"]): ChangeRow {
  const tries = pictures.flatMap(({ file, tries: list }) =>
    list.filter(({ change }) => change === name).map((attempt) => ({ file, ...attempt })),
  );
  return {
    name,
    promised,
    errors: tries.flatMap(({ errors }) => errors ?? []),
    failures: tries
      .filter(({ errors }) => errors === null)
      .map(({ file, outcome, score: value }) => `${file} (${outcome}, score ${formatScore(value)})`),
    scores: tries.map(({ score: value }) => value),
  };
}

/** Two pictures: histograms of beacon scores, and the errors of every recovery by change. */
function renderPlot(rows: readonly ChangeRow[], otherScores: readonly number[], genuine: readonly number[]): string {
  const width = 900;
  const left = 300;
  const histogramHeight = 150;
  const lineHeight = 18;
  const plottedRows = rows.filter(({ errors }) => errors.length > 0);
  const height = histogramHeight + 90 + plottedRows.length * lineHeight + 50;
  const xOfScore = (value: number) => left + (value / 0.6) * (width - left - 20);
  const xOfErrors = (value: number) => left + (value / 68) * (width - left - 20);
  const renderBins = (scores: readonly number[], colour: string) => {
    const counts = new Array<number>(60).fill(0);
    for (const value of scores)
      counts[Math.min(59, Math.max(0, Math.floor(value * 100)))] =
        (counts[Math.min(59, Math.max(0, Math.floor(value * 100)))] ?? 0) + 1;
    const maxCount = Math.max(1, ...counts);
    return counts
      .map((count, bin) => {
        const barHeight = (count / maxCount) * (histogramHeight - 30);
        return count === 0
          ? ""
          : `<rect x="${xOfScore(bin / 100).toFixed(1)}" y="${(histogramHeight - barHeight).toFixed(1)}" width="${(xOfScore(0.01) - left - 1).toFixed(1)}" height="${barHeight.toFixed(1)}" fill="${colour}"/>`;
      })
      .join("");
  };
  const ticks = [0, 0.1, 0.2, 0.3, 0.4, 0.5]
    .map(
      (value) =>
        `<text x="${xOfScore(value).toFixed(1)}" y="${String(histogramHeight + 16)}" text-anchor="middle">${value.toFixed(1)}</text>`,
    )
    .join("");
  const top = histogramHeight + 70;
  const lines = plottedRows
    .map(({ name, errors }, index) => {
      const y = top + index * lineHeight;
      const dots = errors
        .map((value) => `<circle cx="${xOfErrors(value).toFixed(1)}" cy="${String(y - 4)}" r="3"/>`)
        .join("");
      return `<text x="${String(left - 10)}" y="${String(y)}" text-anchor="end">${name.replaceAll("&", "&amp;")}</text><g fill="#2563eb" fill-opacity=".35">${dots}</g>`;
    })
    .join("\n");
  const bottom = top + plottedRows.length * lineHeight;
  const errorTicks = [0, 20, 40, 60, 68]
    .map(
      (value) =>
        `<text x="${xOfErrors(value).toFixed(1)}" y="${String(bottom + 16)}" text-anchor="middle">${String(value)}</text>`,
    )
    .join("");
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${String(width)} ${String(height)}" font-family="sans-serif" font-size="11" role="img" aria-label="Beacon scores of copies and of other pictures; errors of every recovery by change">
<rect width="100%" height="100%" fill="#fff"/>
<text x="${String(left - 10)}" y="60" text-anchor="end">beacon score:</text>
<text x="${String(left - 10)}" y="76" text-anchor="end" fill="#2563eb">promised copies</text>
<text x="${String(left - 10)}" y="92" text-anchor="end" fill="#b45309">other pictures</text>
${renderBins(otherScores, "#b45309")}
${renderBins(genuine, "#2563eb")}
<line x1="${xOfScore(0.2).toFixed(1)}" x2="${xOfScore(0.2).toFixed(1)}" y1="10" y2="${String(histogramHeight)}" stroke="#000" stroke-dasharray="4 3"/>
<text x="${(xOfScore(0.2) + 4).toFixed(1)}" y="20">floor 0.20</text>
${ticks}
<text x="${String(left - 10)}" y="${String(top - 24)}" text-anchor="end">errors of each recovery:</text>
${lines}
<line x1="${xOfErrors(68).toFixed(1)}" x2="${xOfErrors(68).toFixed(1)}" y1="${String(top - 16)}" y2="${String(bottom)}" stroke="#000" stroke-dasharray="4 3"/>
${errorTicks}
</svg>
`;
}
