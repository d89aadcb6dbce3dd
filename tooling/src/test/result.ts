export interface StepResult {
  readonly passed: number;
  readonly failed: number;
  /** Shown when something failed. */
  readonly output: string;
  /** Shown after the step's sentence. */
  readonly remark?: string;
  readonly files?: readonly FileCost[];
}

export interface FileCost {
  readonly file: string;
  /** Clock seconds. */
  readonly seconds: number;
  /** Null where another process does the work, such as a browser. */
  readonly processorSeconds: number | null;
}

/** For a program that passes or fails as a whole. */
export const toStepResult = ({ code, output }: { readonly code: number; readonly output: string }): StepResult => ({
  passed: code === 0 ? 1 : 0,
  failed: code === 0 ? 0 : 1,
  output,
});

/** Counts one failure when the runner failed without a failed test, or found no tests. */
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

export function mergeResults(results: readonly StepResult[]): StepResult {
  const sum = (pick: (result: StepResult) => number): number =>
    results.reduce((total, result) => total + pick(result), 0);
  return {
    passed: sum(({ passed }) => passed),
    failed: sum(({ failed }) => failed),
    output: results.flatMap(({ failed, output }) => (failed > 0 ? [output.trim()] : [])).join("\n\n"),
  };
}
