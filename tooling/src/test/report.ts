import { appendFileSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

import { z } from "zod";

import { rootFolder } from "../paths.ts";

const FileCost = z.object({ file: z.string(), seconds: z.number(), processorSeconds: z.number().nullable() });

export const StepReport = z.object({
  step: z.string(),
  passed: z.int(),
  failed: z.int(),
  remark: z.string().exactOptional(),
  /** Only of a failed step. */
  output: z.string(),
  /** Milliseconds since 1970. */
  at: z.number(),
  commit: z.string(),
  /** Clock seconds. */
  seconds: z.number(),
  /** With child processes; null except on Linux. */
  processorSeconds: z.number().nullable(),
  /** Average of the minute before. */
  load: z.number(),
  files: z.array(FileCost),
});
export type StepReport = z.infer<typeof StepReport>;

/** All runs on this machine, one per line. */
const historyFile = join(rootFolder, ".cache/test/history.jsonl");

export function writeReport(path: string, report: StepReport): void {
  const file = join(rootFolder, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, `${JSON.stringify(report)}\n`);
  mkdirSync(dirname(historyFile), { recursive: true });
  const { output: _, ...entry } = report;
  appendFileSync(historyFile, `${JSON.stringify(entry)}\n`);
}

/** Reads a report; null when it is missing or has an older format. */
export function readReport(path: string): StepReport | null {
  const file = join(rootFolder, path);
  return existsSync(file) ? (StepReport.safeParse(JSON.parse(readFileSync(file, "utf8"))).data ?? null) : null;
}

export function removeReport(path: string): void {
  rmSync(join(rootFolder, path), { force: true });
}

/** Reads all reports, oldest first, without those in an older format. */
export function readHistory(): Omit<StepReport, "output">[] {
  if (!existsSync(historyFile)) return [];
  const Line = StepReport.omit({ output: true });
  return readFileSync(historyFile, "utf8")
    .trim()
    .split("\n")
    .flatMap((line) => Line.safeParse(JSON.parse(line)).data ?? []);
}
