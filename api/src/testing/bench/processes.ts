import { readdirSync, readFileSync } from "node:fs";

/** Linux counts processor time in hundredths of a second. */
const ticksPerSecond = 100;

interface ProcessStat {
  readonly parentPid: number;
  /** Processor time of the process, and of its ended children, in seconds. */
  readonly ownSeconds: number;
  readonly endedChildrenSeconds: number;
}

function readStat(pid: number): ProcessStat | null {
  try {
    const text = readFileSync(`/proc/${String(pid)}/stat`, "utf8");
    const fields = text
      .slice(text.lastIndexOf(")") + 2)
      .split(" ")
      .map(Number);
    const sum = (...indexes: readonly number[]): number =>
      indexes.reduce((total, index) => total + (fields[index] ?? 0), 0) / ticksPerSecond;
    return { parentPid: fields[1] ?? 0, ownSeconds: sum(11, 12), endedChildrenSeconds: sum(13, 14) };
  } catch {
    return null; // the process ended meanwhile
  }
}

/** A process with all its descendants. */
export function findProcessTree(root: number): number[] {
  const parents = readdirSync("/proc")
    .map(Number)
    .filter(Number.isInteger)
    .map((pid) => [pid, readStat(pid)?.parentPid] as const);
  const tree = [root];
  for (const pid of tree) tree.push(...parents.flatMap(([child, parent]) => (parent === pid ? [child] : [])));
  return tree;
}

/** Processor time of these processes and their ended children, in seconds. */
export function readProcessorSeconds(pids: readonly number[]): number {
  return pids.reduce((total, pid) => {
    const stat = readStat(pid);
    return stat === null ? total : total + stat.ownSeconds + stat.endedChildrenSeconds;
  }, 0);
}

/** Memory of a process with its share of shared pages (PSS), in MB. */
export function readProportionalMegabytes(pid: number): number {
  const [, kilobytes] = /^Pss:\s+(\d+) kB/m.exec(readFileSync(`/proc/${String(pid)}/smaps_rollup`, "utf8")) ?? [];
  return Number(kilobytes ?? 0) / 1_024;
}

/** The script that a Node process runs, else its program. */
export function readProcessName(pid: number): string {
  const words = readFileSync(`/proc/${String(pid)}/cmdline`, "utf8").split("\0");
  return words.findLast((word) => word.endsWith(".ts")) ?? words[0] ?? "";
}
