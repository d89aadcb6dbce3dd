import type { SelfTestCopy } from "./self-test/copies.ts";
import { GateReason, GateVerdict, type GateMeasures, type GateReport } from "./engine.ts";

const shortestSide = 600;
const mostPixels = 52_000_000;

const ruled = [
  GateReason.coverage,
  GateReason.spread,
  GateReason.median,
  GateReason.tenth,
  GateReason.estimate,
] as const;
type RuledMeasure = (typeof ruled)[number];

const green: Readonly<Record<RuledMeasure, number>> = { coverage: 0.5, spread: 40, median: 3, tenth: 1, estimate: 0.7 };
const amber: Readonly<Record<RuledMeasure, number>> = {
  coverage: 0.4,
  spread: 30,
  median: 3,
  tenth: 0.8,
  estimate: 0.6,
};

export const noMeasures: GateMeasures = { coverage: 0, spread: 0, median: 0, tenth: 0, peak: 0, slope: 0, estimate: 0 };

/** The gate's verdict on what was measured (image-key.md, "Quality gate at enrolment"). */
export function judge(width: number, height: number, measures: GateMeasures): GateReport {
  const size: GateReason[] = [];
  if (Math.min(width, height) < shortestSide) size.push(GateReason.tooSmall);
  if (width * height > mostPixels) size.push(GateReason.tooLarge);
  const belowGreen = ruled.filter((name) => measures[name] < green[name]);
  const redReasons = [...size, ...ruled.filter((name) => measures[name] < amber[name])];
  const verdict =
    redReasons.length > 0 ? GateVerdict.red : belowGreen.length > 0 ? GateVerdict.amber : GateVerdict.green;
  return { verdict, reasons: [...size, ...belowGreen], redReasons, width, height, measures };
}

/**
 * Copies at the edge of the promise (decision 0078). A picture that fails in them alone may be
 * used, with a passphrase.
 */
const edges: Partial<Readonly<Record<SelfTestCopy, GateReason>>> = {
  bright: GateReason.copyBright,
  small: GateReason.copySmall,
};

/** The verdict after the self-test, given the copies that failed in it. */
export function judgeCopies(report: GateReport, failed: readonly SelfTestCopy[]): GateReport {
  if (failed.length === 0) return report;
  if (failed.every((copy) => copy in edges)) {
    return {
      ...report,
      verdict: GateVerdict.amber,
      reasons: [...report.reasons, ...failed.flatMap((copy) => edges[copy] ?? [])],
    };
  }
  const reason = GateReason.selfTest;
  return {
    ...report,
    verdict: GateVerdict.red,
    reasons: [...report.reasons, reason],
    redReasons: [...report.redReasons, reason],
  };
}
