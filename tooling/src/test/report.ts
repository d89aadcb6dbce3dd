import { appendFileSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

import { z } from "zod";

import { rootFolder } from "../paths.ts";

const FileCost = z.object({ file: z.string(), seconds: z.number(), processorSeconds: z.number().nullable() });

/** What a step leaves behind: how it ended and what it cost. */
export const StepReport = z.object({
  step: z.string(),
  passed: z.int(),
  failed: z.int(),
  remark: z.string().exactOptional(),
  /** Of a step that failed. */
  output: z.string(),
  /** When it ended, in milliseconds since 1970. */
  at: z.number(),
  /** The last commit. */
  commit: z.string(),
  /** By the clock. */
  seconds: z.number(),
  /**
   * Of the processor, of its process and all that it started; null where the system does not tell.
   */
  processorSeconds: z.number().nullable(),
  /** How many processes wanted a processor when it began, over a minute. */
  load: z.number(),
  files: z.array(FileCost),
});
export type StepReport = z.infer<typeof StepReport>;

/** Each run of each step on this machine, a line each. */
const historyFile = join(rootFolder, ".cache/test/history.jsonl");

export function writeReport(path: string, report: StepReport): void {
  const file = join(rootFolder, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, `${JSON.stringify(report)}\n`);
  mkdirSync(dirname(historyFile), { recursive: true });
  const { output: _, ...entry } = report;
  appendFileSync(historyFile, `${JSON.stringify(entry)}\n`);
}

/** Null when there is none, or one of an older form. */
export function readReport(path: string): StepReport | null {
  const file = join(rootFolder, path);
  return existsSync(file) ? (StepReport.safeParse(JSON.parse(readFileSync(file, "utf8"))).data ?? null) : null;
}

export function removeReport(path: string): void {
  rmSync(join(rootFolder, path), { force: true });
}

/** All runs that are kept, the oldest first; those of an older form are left out. */
export function readHistory(): Omit<StepReport, "output">[] {
  if (!existsSync(historyFile)) return [];
  const Line = StepReport.omit({ output: true });
  return readFileSync(historyFile, "utf8")
    .trim()
    .split("\n")
    .flatMap((line) => Line.safeParse(JSON.parse(line)).data ?? []);
}
