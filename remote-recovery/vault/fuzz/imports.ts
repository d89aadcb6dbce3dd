/**
 * `pnpm fuzz:imports [cases] [seed]`: fuzzes imports, 10,000 cases by default. Each case reads a
 * known program's file with a changed structure, or with changed bytes. A case must end in a result
 * within 5 seconds of processor time, and the process must stay within 900 MB. After a changed
 * structure no value may be lost: each is in an item, in a failure, or in a named omission. The
 * last line is JSON; the exit code is 1 if a limit is exceeded or a value is lost. SHOW_FILES
 * prints the files that lost a value.
 */
import fc from "fast-check";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

import { readCsvRows } from "../src/imports/reading/csv-rows.ts";
import { listLostValues, readAnswering } from "../src/testing/import-losses.ts";
import { fillSample, importSamples, type UnknownMember } from "../src/testing/import-samples.ts";
import {
  applyDamage,
  damageArbitrary,
  mutateSample,
  mutationArbitrary,
  tableStyleArbitrary,
  writeTable,
} from "./import-mutations.ts";

const limits = { case_ms: 5000, peak_mb: 900 } as const;
const [cases = 10_000, seed = Date.now() % 2 ** 31] = process.argv
  .slice(2)
  .filter((word) => word !== "--")
  .map(Number);

const samplesFolder = join(import.meta.dirname, "../src/imports/samples");
const sampleFiles = readdirSync(samplesFolder, { recursive: true, withFileTypes: true }).flatMap((entry) =>
  entry.isFile() && entry.name !== "kdbx3-aes.kdbx"
    ? [new Uint8Array(readFileSync(join(entry.parentPath, entry.name)))]
    : [],
);
const unknownMember: fc.Arbitrary<UnknownMember> = fc.record({
  name: fc.constantFrom("note", "email", "folder", "TOTP", "constructor", "__proto__", "toString", "history", "ñ x"),
  shape: fc.constantFrom("text", "list", "object", "number"),
  position: fc.nat(60),
});
const importCase = fc.record({
  sample: fc.constantFrom(...importSamples),
  mutations: fc.array(mutationArbitrary, { maxLength: 5 }),
  unknownMembers: fc.uniqueArray(unknownMember, { selector: ({ name }) => name.toLowerCase(), maxLength: 3 }),
  style: tableStyleArbitrary,
  file: fc.constantFrom(...sampleFiles),
  damages: fc.array(damageArbitrary, { minLength: 1, maxLength: 4 }),
  isDamaged: fc.integer({ min: 0, max: 3 }).map((number) => number === 0),
});

const outcomes: Record<string, number> = {};
const [longest, peak, failed] = [{ ms: 0 }, { mb: 0 }, { crashes: 0, losses: 0 }];
for (const [index, run] of fc.sample(importCase, { numRuns: cases, seed }).entries()) {
  const before = process.cpuUsage();
  const mutated = mutateSample(run.sample, run.mutations);
  const { text, planted } = fillSample(mutated, run.unknownMembers);
  const content = run.isDamaged
    ? run.damages.reduce(applyDamage, run.file)
    : mutated.kind === "csv"
      ? writeTable(
          [...readCsvRows(text, ",")].map(({ cells }) => cells),
          run.style,
        )
      : text;
  let outcome = run.isDamaged ? "damaged file: " : "other structure: ";
  try {
    const read = await readAnswering(content);
    outcome += read.status === "refused" ? read.reason : read.status;
    const lost = read.status === "read" && !run.isDamaged ? await listLostValues(planted, read) : [];
    if (lost.length > 0) {
      failed.losses += 1;
      console.log(`case ${String(index)} of seed ${String(seed)} lost ${lost.join(", ")} of ${run.sample.format}`);
      if (process.env["SHOW_FILES"] !== undefined) console.log(content);
    }
  } catch (error) {
    failed.crashes += 1;
    outcome += "crashed";
    console.log(`case ${String(index)} of seed ${String(seed)}: ${error instanceof Error ? (error.stack ?? "") : ""}`);
  }
  const { user, system } = process.cpuUsage(before);
  longest.ms = Math.max(longest.ms, (user + system) / 1000);
  peak.mb = Math.max(peak.mb, process.memoryUsage.rss() / 1024 ** 2);
  outcomes[outcome] = (outcomes[outcome] ?? 0) + 1;
}
const ok = failed.crashes + failed.losses === 0 && longest.ms <= limits.case_ms && peak.mb <= limits.peak_mb;
console.log(
  JSON.stringify({
    bench: "import-fuzz",
    ok,
    limits,
    cases,
    seed,
    ...failed,
    longest_ms: Math.round(longest.ms),
    peak_mb: Math.round(peak.mb),
    outcomes,
  }),
);
process.exitCode = ok ? 0 : 1;
