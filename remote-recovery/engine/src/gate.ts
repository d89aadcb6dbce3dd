import { SelfTestCopy } from "./self-test/copies.ts";
import { GateReason, GateVerdict, type GateMeasures, type GateReport } from "./engine.ts";

const minSide = 600;
const maxPixels = 52_000_000;

const measuredRules = [
  GateReason.coverage,
  GateReason.spread,
  GateReason.median,
  GateReason.tenth,
  GateReason.estimate,
] as const;
type MeasuredRule = (typeof measuredRules)[number];

const goodThresholds: Readonly<Record<MeasuredRule, number>> = {
  coverage: 0.5,
  spread: 40,
  median: 3,
  tenth: 1,
  estimate: 0.7,
};
const marginalThresholds: Readonly<Record<MeasuredRule, number>> = {
  coverage: 0.4,
  spread: 30,
  median: 3,
  tenth: 0.8,
  estimate: 0.6,
};

export const zeroMeasures: GateMeasures = {
  coverage: 0,
  spread: 0,
  median: 0,
  tenth: 0,
  peak: 0,
  slope: 0,
  estimate: 0,
};

/** The gate's verdict on measures, without the self-test. */
export function evaluateGate(width: number, height: number, measures: GateMeasures): GateReport {
  const sizeReasons: GateReason[] = [];
  if (Math.min(width, height) < minSide) sizeReasons.push(GateReason.tooSmall);
  if (width * height > maxPixels) sizeReasons.push(GateReason.tooLarge);
  const belowGood = measuredRules.filter((name) => measures[name] < goodThresholds[name]);
  const refusalReasons = [...sizeReasons, ...measuredRules.filter((name) => measures[name] < marginalThresholds[name])];
  const verdict =
    refusalReasons.length > 0 ? GateVerdict.refused : belowGood.length > 0 ? GateVerdict.marginal : GateVerdict.good;
  return { verdict, reasons: [...sizeReasons, ...belowGood], refusalReasons, width, height, measures };
}

/**
 * Makes a drawn-looking picture marginal at most, because a photograph with a black sky may look
 * drawn too.
 */
export function applyDrawn(report: GateReport): GateReport {
  return {
    ...report,
    verdict: report.verdict === GateVerdict.good ? GateVerdict.marginal : report.verdict,
    reasons: [...report.reasons, GateReason.drawn],
  };
}

/**
 * Reasons of copies whose failure makes a picture marginal instead of refused (decision 0012,
 * "Self-test").
 */
const marginalCopies: Partial<Readonly<Record<SelfTestCopy, GateReason>>> = {
  bright: GateReason.copyBright,
  small: GateReason.copySmall,
};

export function applySelfTest(report: GateReport, failedCopies: readonly SelfTestCopy[]): GateReport {
  if (failedCopies.length === 0) return report;
  const refusedCopies = failedCopies.filter((copy) => !(copy in marginalCopies));
  if (refusedCopies.length === 0) {
    return {
      ...report,
      verdict: GateVerdict.marginal,
      reasons: [...report.reasons, ...failedCopies.flatMap((copy) => marginalCopies[copy] ?? [])],
    };
  }
  const reason = refusedCopies.every((copy) => copy === SelfTestCopy.onBlack)
    ? GateReason.transparent
    : GateReason.selfTest;
  return {
    ...report,
    verdict: GateVerdict.refused,
    reasons: [...report.reasons, reason],
    refusalReasons: [...report.refusalReasons, reason],
  };
}
