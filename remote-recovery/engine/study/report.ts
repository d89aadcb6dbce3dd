import { GateReason } from "../src/engine.ts";
import type { Change } from "./changes.ts";
import { computeLowerBound } from "./bounds.ts";
import type { PhotoLine, SearchLine } from "./journal.ts";

export interface Study {
  readonly pictures: readonly (PhotoLine & { readonly file: string })[];
  readonly skipped: readonly string[];
  readonly changes: readonly Change[];
  readonly comparisonCount: number;
  readonly nearestDistance: number;
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
const sortNumbers = (list: readonly number[]) => list.toSorted((a, b) => a - b);
const computeQuantile = (list: readonly number[], fraction: number) =>
  sortNumbers(list)[Math.round(fraction * (list.length - 1))] ?? NaN;
const formatMaximum = (list: readonly number[]) => (list.length === 0 ? "" : String(Math.max(...list)));
const formatScore = (value: number) => (!Number.isFinite(value) ? "" : value.toFixed(3));

export function renderReport(study: Study, plotFile: string): { markdown: string; svg: string } {
  const { pictures, searches } = study;
  const marginalPictures = pictures.filter(({ gate }) => failsAtEdge(gate));
  const rows = study.changes.map((change) =>
    createChangeRow(
      change,
      pictures.filter(({ gate }) => !failsAtEdge(gate)),
    ),
  );
  const countVerdicts = (verdict: string) => pictures.filter(({ gate }) => gate.verdict === verdict).length;
  const selfTestRefusalCount = pictures.filter(
    ({ gate: { redReasons } }) => redReasons.length > 0 && redReasons.every((reason) => reason === GateReason.selfTest),
  ).length;
  const genuineScores = rows.filter(({ promised }) => promised).flatMap(({ scores }) => scores);
  const promisedRows = rows.filter(({ promised }) => promised);
  const tryCount = promisedRows.reduce((sum, { errors, failures }) => sum + errors.length + failures.length, 0);
  const failures = promisedRows.flatMap(({ name, failures: list }) => list.map((failure) => `${name}: ${failure}`));
  const otherScores = searches.map(({ score: value }) => value);
  const renderRow = ({ name, errors, failures: failed, scores }: ChangeRow) => {
    const n = errors.length + failed.length;
    return `| ${name} | ${String(errors.length)}/${String(n)} | ${formatPercent(computeLowerBound(errors.length, n))} | ${errors.length === 0 ? "" : String(computeQuantile(errors, 0.5))} | ${formatMaximum(errors)} | ${formatScore(Math.min(...scores))} |`;
  };
  const markdown = `# Study of the image engine

Made by \`pnpm study:engine -- <folder>\`, which runs over any folder of photographs. Recovery is blind: it does not know crop, rotation or mirroring, and does not try
the original framing first. Each change is applied to a copy of at most ${String(study.workingSide)} pixels on its long side; enrolment uses the file itself.
Copies with a promised change must open; changes with the mark "not promised" need not.
Codecs: mozjpeg (baseline, 4:2:0), libwebp, libavif.

| gate | pictures |
| --- | --- |
| green (good) | ${String(countVerdicts("green"))} |
| amber (marginal) | ${String(countVerdicts("amber"))}; ${String(marginalPictures.length)} of them failed the self-test only on a copy at the promised limit |
| red (refused) | ${String(countVerdicts("red"))}; ${String(selfTestRefusalCount)} of them only by the self-test |
| all | ${String(pictures.length)}${study.skipped.length === 0 ? "" : `; ${String(study.skipped.length)} more could not be read`} |

Only copies of green and amber pictures were tested; red pictures cannot be enrolled. The self-test includes two copies at the promised
limit: 20 % brighter (copy_bright), and a short side of 200 pixels (copy_small).

Beacon score: how well the choice bits of a sketch fit a picture, from −1 to 1. Errors: wrong bits of 2047; the code corrects 68.

![Beacon scores and errors](${plotFile})

## Does a copy recover?

${String(tryCount - failures.length)} of ${String(tryCount)} promised changes recovered. The bound is the lower end of the exact one-sided 95 % interval.
This section leaves out pictures that failed the self-test only at the promised limit; the next section covers them.

| change | recovered | bound | bit errors, median | bit errors, maximum | lowest beacon score |
| --- | --- | --- | --- | --- | --- |
${rows.map(renderRow).join("\n")}

${failures.length === 0 ? "No failure in a promised row." : `Failures in promised rows:\n\n${failures.map((failure) => `- ${failure}`).join("\n")}`}

## Pictures that failed the self-test only at the promised limit

These pictures need a passphrase, and the person is told which copies do not open ([0012](decisions/0012-the-engine-reads-pixels-as-stored.md)). The table counts promised changes only.

${renderEdgeTable(marginalPictures, new Set(promisedRows.map(({ name }) => name)))}

## Does a different picture open a secret?

- ${study.comparisonCount.toLocaleString("en")} comparisons by Hamming distance: ordered pairs of pictures × 8 orientations × 4 crop windows. The smallest distance is ${String(study.nearestDistance)} of 2047 bits.
- ${String(searches.length)} full searches of random pairs; ${String(searches.filter(({ accepted }) => accepted).length)} accepted. The smallest distance is ${String(Math.min(...searches.map(({ nearest }) => nearest)))} bits.

| beacon score | lowest | 1 % | median | 99 % | highest |
| --- | --- | --- | --- | --- | --- |
| promised copies | ${[0, 0.01, 0.5, 0.99, 1].map((fraction) => formatScore(computeQuantile(genuineScores, fraction))).join(" | ")} |
| other pictures | ${[0, 0.01, 0.5, 0.99, 1].map((fraction) => formatScore(computeQuantile(otherScores, fraction))).join(" | ")} |

A score of at least 0.20 leads to a comparison of the secret bits. The highest score of another picture is ${formatScore(0.2 - computeQuantile(otherScores, 1))} below this floor, and the lowest score of a promised copy is ${formatScore(computeQuantile(genuineScores, 0) - 0.2)} above it.
To open a secret, another picture would also have to match all but 68 of the 2047 secret bits. The list above has the smallest distance found.

## What the gate says

- coverage: share of the picture's 256 parts that have texture
- spread: how evenly the texture fills these parts, 0 to 256
- median, 10th percentile: contrast that the bits rest on, in grey levels (reasons \`median\`, \`tenth\`)
- entropy: estimate per bit, for an attacker who knows pictures in general (reason \`estimate\`)
- self-test errors: bit errors of the copies messenger, quarter, gamma, cropped, bright and small; then of the copy on black (transparent
  pictures only), and of the copy of 350 pixels (only if the small copy failed). \`failed\`: not recovered. Empty: not tested.

| picture | pixels | gate | coverage | spread | median | 10th percentile | entropy | self-test errors |
| --- | --- | --- | --- | --- | --- | --- | --- | --- |
${pictures.map(({ file, gate: { verdict, reasons, redReasons, width, height, measures: m }, selfTest }) => `| ${file} | ${String(width)} × ${String(height)} | ${describeVerdict(verdict, verdict === "red" ? redReasons : reasons.filter((reason) => reason === GateReason.drawn || edgeReasons.includes(reason)))} | ${m.coverage.toFixed(2)} | ${m.spread.toFixed(0)} | ${m.median.toFixed(1)} | ${m.tenth.toFixed(1)} | ${m.estimate.toFixed(2)} | ${selfTest?.map((errors) => errors ?? "failed").join(", ") ?? ""} |`).join("\n")}
`;
  return { markdown, svg: renderPlot(rows, otherScores, genuineScores) };
}

const edgeReasons: readonly string[] = [GateReason.copyBright, GateReason.copySmall];

function failsAtEdge({ verdict, reasons }: PhotoLine["gate"]): boolean {
  return verdict === "amber" && reasons.some((reason) => edgeReasons.includes(reason));
}

function describeVerdict(verdict: string, reasons: readonly string[]): string {
  return reasons.length === 0 ? verdict : `${verdict}: ${reasons.join(", ")}`;
}

/** One row per picture, with the changes that did not recover, and a row of totals. */
function renderEdgeTable(pictures: Study["pictures"], promised: ReadonlySet<string>): string {
  if (pictures.length === 0) return "None in this folder.";
  const rows = pictures.map(({ file, gate, tries }) => ({
    file,
    failingReasons: gate.reasons.filter((reason) => edgeReasons.includes(reason)),
    tries: tries.filter(({ change }) => promised.has(change)),
  }));
  const all = { file: "total", failingReasons: [], tries: rows.flatMap(({ tries }) => tries) };
  const renderRow = ({ file, failingReasons, tries }: (typeof rows)[number]) => {
    const errors = tries.flatMap(({ errors: count }) => count ?? []);
    const failed = [...new Set(tries.filter(({ errors: count }) => count === null).map(({ change }) => change))];
    return `| ${file} | ${failingReasons.join(", ")} | ${String(errors.length)}/${String(tries.length)} | ${formatMaximum(errors)} | ${failed.join("; ")} |`;
  };
  return `| picture | failed copies | recovered | bit errors, maximum | not recovered |
| --- | --- | --- | --- | --- |
${[...rows, all].map(renderRow).join("\n")}`;
}

function createChangeRow({ name, promised }: Change, pictures: Study["pictures"]): ChangeRow {
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

/** Renders two plots: histograms of beacon scores, and the errors of all recoveries by change. */
function renderPlot(
  rows: readonly ChangeRow[],
  otherScores: readonly number[],
  genuineScores: readonly number[],
): string {
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
${renderBins(genuineScores, "#2563eb")}
<line x1="${xOfScore(0.2).toFixed(1)}" x2="${xOfScore(0.2).toFixed(1)}" y1="10" y2="${String(histogramHeight)}" stroke="#000" stroke-dasharray="4 3"/>
<text x="${(xOfScore(0.2) + 4).toFixed(1)}" y="20">floor 0.20</text>
${ticks}
<text x="${String(left - 10)}" y="${String(top - 24)}" text-anchor="end">bit errors of each recovery:</text>
${lines}
<line x1="${xOfErrors(68).toFixed(1)}" x2="${xOfErrors(68).toFixed(1)}" y1="${String(top - 16)}" y2="${String(bottom)}" stroke="#000" stroke-dasharray="4 3"/>
${errorTicks}
</svg>
`;
}
