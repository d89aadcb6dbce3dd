import { setTimeout as sleep } from "node:timers/promises";

export interface Supervisor {
  /** Resolves when the process runs again, or is given up. */
  handleExit(name: string, reason: string): Promise<void>;
  stop(): void;
}

export interface SupervisorSettings {
  readonly start: (name: string) => Promise<void>;
  readonly log: (line: string) => void;
  /** Replaced in tests, like `pause`. */
  readonly now?: () => number;
  readonly pause?: (milliseconds: number, signal: AbortSignal) => Promise<unknown>;
}

const initialDelayMs = 1_000;
const maxDelayMs = 30_000;
const maxAttempts = 8;
/** A process that ran for so long starts with a new count of attempts. */
const stableAfterMs = 60_000;

/**
 * Restarts ended processes after 1 s, 2 s, 4 s … up to 30 s. After eight attempts in a row only the
 * operator restarts them.
 */
export function createSupervisor({
  start,
  log,
  now = Date.now,
  pause = (milliseconds, signal) => sleep(milliseconds, undefined, { signal }).catch(() => undefined),
}: SupervisorSettings): Supervisor {
  const history = new Map<string, { readonly attempts: number; readonly startedAt: number }>();
  const abortController = new AbortController();

  async function restart(name: string, message: string): Promise<void> {
    if (abortController.signal.aborted) return;
    const previous = history.get(name);
    const attempts = previous === undefined || now() - previous.startedAt > stableAfterMs ? 0 : previous.attempts;
    if (attempts === maxAttempts) {
      log(`${message} It is not tried again; to start it: kill -USR2 ${String(process.pid)}`);
      return;
    }
    const delayMs = Math.min(initialDelayMs * 2 ** attempts, maxDelayMs);
    log(`${message} Restarting in ${String(delayMs / 1_000)} s.`);
    await pause(delayMs, abortController.signal);
    if (isStopped()) return;
    const failure = await start(name).then(
      () => null,
      (error: unknown) => (error instanceof Error ? error.message : `${name} did not start.`),
    );
    // taken after the start, which may be slow and does not count as running
    history.set(name, { attempts: attempts + 1, startedAt: now() });
    if (failure === null) log(`${name} runs again.`);
    else await restart(name, failure);
  }

  const isStopped = (): boolean => abortController.signal.aborted;
  return {
    handleExit: (name, reason) => restart(name, `${name} ended (${reason}).`),
    stop() {
      abortController.abort();
    },
  };
}
