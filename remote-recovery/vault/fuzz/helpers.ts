/**
 * Broken helpers in numbers: `pnpm fuzz:helpers [cases] [seed]`, 10,000 unless told. Each is read,
 * and opened with the right picture's secret where no passphrase is needed, and ends in an answer
 * or in a typed error within 5 seconds of processor time. The last line is JSON; the exit code is 1
 * when a limit is broken.
 */
import { damageArbitrary, applyDamage } from "@relicario/engine/damage";
import { PortalError } from "@relicario/shared/errors";
import fc from "fast-check";

import { randomBytes } from "../src/seal/bytes.ts";
import { createHelper, unwrapImageRootKey, parseHelper, extractSketch } from "../src/seal/helper.ts";
import { sketchFor } from "../src/testing/fake-engine.ts";

const limits = { case_ms: 5000 } as const;
const [cases = 10_000, seed = Date.now() % 2 ** 31] = process.argv
  .slice(2)
  .filter((word) => word !== "--")
  .map(Number);

const imageSecret = randomBytes(32);
const sketch = sketchFor("any picture");
const helpers = [
  (await createHelper(imageSecret, sketch, null)).helper,
  (await createHelper(imageSecret, sketch, "long words")).helper,
];

async function openHelperBytes(bytes: Uint8Array): Promise<string> {
  const helper = parseHelper(bytes);
  if (helper.encrypted) return "read"; // opening it would try Argon2id, not us
  await unwrapImageRootKey(helper, await extractSketch(helper, null), imageSecret, null);
  return "opened";
}

const helperCase = fc.record({
  helper: fc.constantFrom(...helpers),
  changes: fc.array(damageArbitrary, { minLength: 1, maxLength: 4 }),
});
const outcomes: Record<string, number> = {};
let longest = 0;
let untyped = 0;
for (const [index, { helper, changes }] of fc.sample(helperCase, { numRuns: cases, seed }).entries()) {
  const before = process.cpuUsage();
  const outcome = await openHelperBytes(changes.reduce<Uint8Array>(applyDamage, helper)).catch((error: unknown) => {
    if (error instanceof PortalError) return error.code;
    untyped++;
    console.log(`case ${String(index)} of seed ${String(seed)}: ${String(error)}`);
    return "untyped";
  });
  const { user, system } = process.cpuUsage(before);
  longest = Math.max(longest, (user + system) / 1000);
  outcomes[outcome] = (outcomes[outcome] ?? 0) + 1;
}
const ok = untyped === 0 && longest <= limits.case_ms;
console.log(
  JSON.stringify({ bench: "helper-fuzz", ok, limits, cases, seed, untyped, longest_ms: Math.round(longest), outcomes }),
);
process.exitCode = ok ? 0 : 1;
