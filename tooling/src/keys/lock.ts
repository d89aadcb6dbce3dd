import { mkdirSync, readFileSync, rmSync } from "node:fs";
import { dirname } from "node:path";
import { setTimeout as pause } from "node:timers/promises";

import { z } from "zod";

import { codeOf } from "../error-code.ts";
import { writeOnce } from "./write-once.ts";

const Holder = z.object({ pid: z.int().positive(), since: z.string() });
export type Holder = z.infer<typeof Holder>;

/**
 * Takes the lock of a file, or says who has it. A holder that was killed does not count. Returns
 * the way to give it back.
 */
export function tryLock(file: string): { readonly release: () => void } | { readonly heldBy: Holder } {
  mkdirSync(dirname(file), { recursive: true });
  const ownHolder = JSON.stringify({ pid: process.pid, since: processStartTime(process.pid) } satisfies Holder);
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

function parseHolder(text: string): Holder | null {
  try {
    return Holder.parse(JSON.parse(text));
  } catch {
    return null; // not written by us: nobody's
  }
}

/** The same process, not another that got its number later. */
function isAlive({ pid, since }: Holder): boolean {
  try {
    process.kill(pid, 0);
  } catch (error) {
    if (codeOf(error) !== "EPERM") return false; // it lives, under another user
  }
  return processStartTime(pid) === since;
}

/** When a process was started, in the system's own count; empty where the system does not tell. */
function processStartTime(pid: number): string {
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
