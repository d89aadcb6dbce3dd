/**
 * `npm test`; `npm test -- <lint|types|checks|unit|engine|build|releases|e2e|session|attacks|neighbours|contention|faults> [more]` for a part,
 * `npm test -- all` for everything, also what takes too long for every time. Ends with `N passed, N failed`.
 */
import { steps, type Result, type Step } from "./steps.ts";

const groups = [...new Set(steps.map(({ group }) => group))];
const [only, ...more] = process.argv.slice(2);
const whole = only === "all";
if (only !== undefined && !whole && !groups.some((group) => group === only)) {
  console.error(`There is no part "${only}": choose one of ${groups.join(", ")}, "all" for everything, or none for the usual run.`);
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

async function take(step: Step): Promise<void> {
  const from = performance.now();
  const result = await step.run({ more, whole, named: step.group === only }).catch((error: unknown): Result => ({ passed: 0, failed: 1, said: error instanceof Error ? (error.stack ?? error.message) : String(error) }));
  report(step, result, (performance.now() - from) / 1000);
}

/** Programs of one thread, two at a time; all else uses the whole machine by itself. */
async function takeAll(todo: readonly Step[]): Promise<void> {
  const waiting = [...todo];
  const lane = async (): Promise<void> => {
    for (let step = waiting.shift(); step !== undefined; step = waiting.shift()) await take(step);
  };
  await Promise.all([lane(), lane()]);
}

const todo = steps.filter(({ group, onlyNamed }) => (only === undefined ? onlyNamed !== true : whole || group === only));
const companionsOf = (group: Step["group"]): readonly Step[] => todo.filter(({ beside }) => beside === group);
const alone = ({ beside }: Step): boolean => beside === undefined || !todo.some(({ group }) => group === beside);
await takeAll(todo.filter((step) => step.oneThread === true && alone(step)));
for (const step of todo.filter(({ oneThread }) => oneThread !== true)) await Promise.all([step, ...companionsOf(step.group)].map(take));

console.log(`\nIn ${((performance.now() - began) / 1000).toFixed(0)} s.`);
console.log(`${String(passed)} passed, ${String(failed)} failed`);
process.exitCode = failed === 0 ? 0 : 1;
