import { mkdirSync, readFileSync, rmSync } from "node:fs";
import { dirname } from "node:path";
import { setTimeout as pause } from "node:timers/promises";

import { z } from "zod";

import { isProcessAlive } from "../process-alive.ts";
import { writeOnce } from "./write-once.ts";

const LockHolder = z.object({ pid: z.int().positive(), since: z.string() });
export type LockHolder = z.infer<typeof LockHolder>;

/** Takes a lock file. Returns its release, or the living process that holds it. */
export function tryLock(file: string): { readonly release: () => void } | { readonly heldBy: LockHolder } {
  mkdirSync(dirname(file), { recursive: true });
  const ownHolder = JSON.stringify({ pid: process.pid, since: readProcessStartTime(process.pid) } satisfies LockHolder);
  for (;;) {
    const content = writeOnce(file, ownHolder);
    if (content === ownHolder) return { release: () => rmSync(file, { force: true }) };
    const holder = parseHolder(content);
    if (holder !== null && isAlive(holder)) return { heldBy: holder };
    rmSync(file, { force: true });
  }
}

export async function waitForLock(file: string): Promise<() => void> {
  for (;;) {
    const attempt = tryLock(file);
    if ("release" in attempt) return attempt.release;
    await pause(200);
  }
}

function parseHolder(text: string): LockHolder | null {
  try {
    return LockHolder.parse(JSON.parse(text));
  } catch {
    return null; // not written by us: no holder
  }
}

/** Whether the same process lives, not a later one with its pid. */
function isAlive({ pid, since }: LockHolder): boolean {
  return isProcessAlive(pid) && readProcessStartTime(pid) === since;
}

/** Start time of a process, in clock ticks since boot; empty except on Linux. */
function readProcessStartTime(pid: number): string {
  try {
    // Field 22 of proc_pid_stat(5). Field 2, the program's name in parentheses, may contain spaces.
    return (
      readFileSync(`/proc/${String(pid)}/stat`, "utf8")
        .split(") ")
        .at(-1)
        ?.split(" ")[19] ?? ""
    );
  } catch {
    return "";
  }
}
