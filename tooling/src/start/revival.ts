import { setTimeout as unhurried } from "node:timers/promises";

export interface Revival {
  /**
   * Says what ended and starts it again, as often as it takes and makes sense. Resolves when it
   * runs, or was given up.
   */
  ended(name: string, how: string): Promise<void>;
  /** Starts nothing any more. */
  stop(): void;
}

export interface RevivalSettings {
  readonly start: (name: string) => Promise<void>;
  readonly log: (line: string) => void;
  /** Milliseconds since some time; seams for tests. */
  readonly now?: () => number;
  readonly pause?: (milliseconds: number, signal: AbortSignal) => Promise<unknown>;
}

const firstPauseMs = 1_000;
const longestPauseMs = 30_000;
const tries = 8;
/** What ran for so long before it ended is not counted with the deaths before. */
const steadyMs = 60_000;

/**
 * Parts of the portal that end are started again after 1 s, 2 s, 4 s …; after eight tries in a row
 * that do not last, by a person alone.
 */
export function createRevival({
  start,
  log,
  now = Date.now,
  pause = (milliseconds, signal) => unhurried(milliseconds, undefined, { signal }).catch(() => undefined),
}: RevivalSettings): Revival {
  const former = new Map<string, { readonly tries: number; readonly at: number }>();
  const stopped = new AbortController();

  async function again(name: string, said: string): Promise<void> {
    if (stopped.signal.aborted) return;
    const last = former.get(name);
    const count = last === undefined || now() - last.at > steadyMs ? 0 : last.tries;
    if (count === tries) {
      log(`${said} It is not tried again; to start it: kill -USR2 ${String(process.pid)}`);
      return;
    }
    const milliseconds = Math.min(firstPauseMs * 2 ** count, longestPauseMs);
    log(`${said} It is started again in ${String(milliseconds / 1_000)} s.`);
    await pause(milliseconds, stopped.signal);
    if (isStopped()) return;
    const failure = await start(name).then(
      () => null,
      (error: unknown) => (error instanceof Error ? error.message : `${name} did not start.`),
    );
    former.set(name, { tries: count + 1, at: now() }); // a start may take as long as what counts as steady
    if (failure === null) log(`${name} runs again.`);
    else await again(name, failure);
  }

  const isStopped = (): boolean => stopped.signal.aborted;
  return {
    ended: (name, how) => again(name, `${name} ended (${how}).`),
    stop() {
      stopped.abort();
    },
  };
}
