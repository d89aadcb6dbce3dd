/**
 * `pnpm fuzz:helpers [cases] [seed]`: fuzzes damaged helpers, 10,000 cases by default. Parses each
 * helper and, if it has no passphrase, opens it with the right image secret. A case must succeed or
 * throw a PortalError within 5 seconds of processor time. The last line is JSON; the exit code is 1
 * if a limit is exceeded.
 */
import { damageArbitrary, applyDamage } from "@relicario/engine/damage";
import { PortalError } from "@relicario/shared/errors";
import fc from "fast-check";

import { randomBytes } from "../src/seal/bytes.ts";
import { createHelper, unwrapImageRootKey, parseHelper, extractSketch } from "../src/seal/helper.ts";
import { createFakeSketch } from "../src/testing/fake-engine.ts";

const limits = { case_ms: 5000 } as const;
const [cases = 10_000, seed = Date.now() % 2 ** 31] = process.argv
  .slice(2)
  .filter((word) => word !== "--")
  .map(Number);

const imageSecret = randomBytes(32);
const sketch = createFakeSketch("any picture");
const helpers = [
  (await createHelper(imageSecret, sketch, null)).helper,
  (await createHelper(imageSecret, sketch, "long words")).helper,
];

async function openHelperBytes(bytes: Uint8Array): Promise<string> {
  const helper = parseHelper(bytes);
  if (helper.requiresPassphrase) return "read"; // opening it would only test Argon2id
  await unwrapImageRootKey(helper, await extractSketch(helper, null), imageSecret, null);
  return "opened";
}

const helperCase = fc.record({
  helper: fc.constantFrom(...helpers),
  changes: fc.array(damageArbitrary, { minLength: 1, maxLength: 4 }),
});
const outcomes: Record<string, number> = {};
let longestMilliseconds = 0;
let untypedCount = 0;
for (const [index, { helper, changes }] of fc.sample(helperCase, { numRuns: cases, seed }).entries()) {
  const cpuBefore = process.cpuUsage();
  const outcome = await openHelperBytes(changes.reduce<Uint8Array>(applyDamage, helper)).catch((error: unknown) => {
    if (error instanceof PortalError) return error.code;
    untypedCount++;
    console.log(`case ${String(index)} of seed ${String(seed)}: ${String(error)}`);
    return "untyped";
  });
  const { user, system } = process.cpuUsage(cpuBefore);
  longestMilliseconds = Math.max(longestMilliseconds, (user + system) / 1000);
  outcomes[outcome] = (outcomes[outcome] ?? 0) + 1;
}
const ok = untypedCount === 0 && longestMilliseconds <= limits.case_ms;
console.log(
  JSON.stringify({
    bench: "helper-fuzz",
    ok,
    limits,
    cases,
    seed,
    untyped: untypedCount,
    longest_ms: Math.round(longestMilliseconds),
    outcomes,
  }),
);
process.exitCode = ok ? 0 : 1;
