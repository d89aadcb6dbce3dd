import { mkdirSync, readFileSync, rmSync } from "node:fs";
import { dirname } from "node:path";
import { setTimeout as pause } from "node:timers/promises";

import { z } from "zod";

import { getErrorCode } from "../error-code.ts";
import { writeOnce } from "./write-once.ts";

const LockHolder = z.object({ pid: z.int().positive(), since: z.string() });
export type LockHolder = z.infer<typeof LockHolder>;

/**
 * Takes the lock of a file, or says who has it. A holder that was killed does not count. Returns
 * the way to give it back.
 */
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

/** Waits for the lock. */
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
    return null; // not written by us: nobody's
  }
}

/** The same process, not another that got its number later. */
function isAlive({ pid, since }: LockHolder): boolean {
  try {
    process.kill(pid, 0);
  } catch (error) {
    if (getErrorCode(error) !== "EPERM") return false; // it lives, under another user
  }
  return readProcessStartTime(pid) === since;
}

/** When a process was started, in the system's own count; empty where the system does not tell. */
function readProcessStartTime(pid: number): string {
  try {
    // Field 22 of proc_pid_stat(5); the name of the program, before it, may hold spaces.
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
