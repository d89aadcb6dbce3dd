/** `npm test`, and `npm test -- <lint|types|checks|unit|build|e2e|session> [more]` for a part. Ends with `N passed, N failed`. */
import { steps, type Result, type Step } from "./steps.ts";

const groups = [...new Set(steps.map(({ group }) => group))];
const [only, ...more] = process.argv.slice(2);
if (only !== undefined && !groups.some((group) => group === only)) {
  console.error(`There is no part "${only}": choose one of ${groups.join(", ")}, or none for all.`);
  process.exit(2);
}

const began = performance.now();
let passed = 0;
let failed = 0;

const report = (step: Step, { said, remark, ...result }: Result, seconds: number): void => {
  passed += result.passed;
  failed += result.failed;
  console.log(`${result.failed === 0 ? "✓" : "✗"} ${step.sentence} (${[remark, `${seconds.toFixed(1)} s`].filter((part) => part !== undefined).join(", ")})`);
  if (result.failed > 0) console.log(`${said.trim()}\n`);
};

const todo = steps.filter(({ group, onlyNamed }) => (only === undefined ? onlyNamed !== true : group === only));
for (let at = 0; at < todo.length; ) {
  const step = todo[at];
  if (step === undefined) break;
  // Two compilers at a time; all else uses the whole machine by itself.
  const together = step.group === "types" && todo[at + 1]?.group === "types" ? todo.slice(at, at + 2) : [step];
  const results = await Promise.all(
    together.map(async (each) => {
      const from = performance.now();
      const result = await each.run(more).catch((error: unknown): Result => ({ passed: 0, failed: 1, said: error instanceof Error ? (error.stack ?? error.message) : String(error) }));
      return { each, result, seconds: (performance.now() - from) / 1000 };
    }),
  );
  for (const { each, result, seconds } of results) report(each, result, seconds);
  at += together.length;
}

console.log(`\nIn ${((performance.now() - began) / 1000).toFixed(0)} s.`);
console.log(`${String(passed)} passed, ${String(failed)} failed`);
process.exitCode = failed === 0 ? 0 : 1;
