/** How a step ended. */
export interface StepResult {
  readonly passed: number;
  readonly failed: number;
  /** Shown when something failed. */
  readonly output: string;
  /** A remark behind the sentence. */
  readonly remark?: string;
  /** What each test file cost. */
  readonly files?: readonly FileCost[];
}

export interface FileCost {
  readonly file: string;
  /** By the clock. */
  readonly seconds: number;
  /**
   * Of the processor, in the process of the test; null where what works is another process, such as
   * a browser.
   */
  readonly processorSeconds: number | null;
}

/** Of a program that passes or fails as one. */
export const toResult = ({ code, output }: { readonly code: number; readonly output: string }): StepResult => ({
  passed: code === 0 ? 1 : 0,
  failed: code === 0 ? 0 : 1,
  output,
});

/**
 * A runner that failed without a failed test (nothing found, say, or a fault at its end) counts as
 * one failure.
 */
export function toTestResult(
  passed: number,
  failed: number,
  skipped: number,
  code: number,
  output: string,
): StepResult {
  const failures = failed === 0 && (code !== 0 || passed === 0) ? 1 : failed;
  const remark = `${String(passed)} passed${skipped > 0 ? `, ${String(skipped)} skipped` : ""}`;
  return { passed, failed: failures, output, remark };
}

/** One result of several. */
export function mergeResults(results: readonly StepResult[]): StepResult {
  const sum = (pick: (result: StepResult) => number): number =>
    results.reduce((total, result) => total + pick(result), 0);
  return {
    passed: sum(({ passed }) => passed),
    failed: sum(({ failed }) => failed),
    output: results.flatMap(({ failed, output }) => (failed > 0 ? [output.trim()] : [])).join("\n\n"),
  };
}
