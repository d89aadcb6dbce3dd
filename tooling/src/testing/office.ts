/** Many people behind one address, by a fake clock: what limits let through. */
import { Counter } from "../http/counter.ts";
import { KeyedSemaphore } from "../http/keyed-semaphore.ts";
import type { ConnectionLimits } from "../http/limits.ts";

/** Arrivals of a morning, in seconds from its start: two thirds within the middle third. */
export function generateArrivals(people: number, seconds: number): number[] {
  // A sum of uniform numbers is bell-shaped; a fixed sequence needs no seed.
  const fraction = (index: number, step: number): number => (index * step) % 1;
  return Array.from({ length: people }, (_, index) => {
    const parts = [0.618_033_988_7, 0.414_213_562_3, 0.732_050_807_5].map((step) => fraction(index + 1, step));
    return (parts.reduce((sum, part) => sum + part, 0) / parts.length) * seconds;
  }).toSorted((a, b) => a - b);
}

/** A call of one browser, which takes a turn of its queue for `milliseconds`. */
export interface SimulatedCall {
  readonly queue: string;
  readonly milliseconds: number;
}

interface PeakOptions {
  /** In seconds, sorted. */
  readonly arrivals: readonly number[];
  /** What each browser calls, in order. */
  readonly calls: readonly SimulatedCall[];
  /** Calls of one browser at a time. */
  readonly lanes: number;
  /** From the server to the browser and back. */
  readonly networkMilliseconds: number;
  readonly limits: Pick<ConnectionLimits, "callsOfAddress" | "turnsOfAddress">;
}

interface PeakReading {
  readonly refusedCalls: number;
  readonly mostCalls: number;
  /** For a turn. */
  readonly longestWaitMs: number;
}

/** Plays the fullest minute of the arrivals at one address. */
export function simulatePeak({ arrivals, calls, lanes, networkMilliseconds, limits }: PeakOptions): PeakReading {
  const clock = new FakeClock();
  const callsUnderWay = new Counter();
  const queues = new Map(calls.map(({ queue }) => [queue, new KeyedSemaphore(limits.turnsOfAddress)]));
  let [refusedCalls, mostCalls, longestWaitMs] = [0, 0, 0];
  const call = ({ queue, milliseconds }: SimulatedCall, onEnd: () => void): void => {
    if (callsUnderWay.total >= limits.callsOfAddress) {
      refusedCalls += 1;
      return;
    }
    const end = callsUnderWay.acquire("");
    mostCalls = Math.max(mostCalls, callsUnderWay.total);
    const calledAt = clock.milliseconds;
    queues.get(queue)?.acquire("", 1, (release) => {
      longestWaitMs = Math.max(longestWaitMs, clock.milliseconds - calledAt);
      clock.schedule(milliseconds, () => {
        release();
        clock.schedule(networkMilliseconds, () => {
          end();
          onEnd();
        });
      });
    });
  };
  const peak = findFullestMinute(arrivals);
  for (const arrival of peak)
    clock.schedule((arrival - (peak[0] ?? 0)) * 1_000, () => {
      const remaining = [...calls];
      const next = (): void => {
        const nextCall = remaining.shift();
        if (nextCall !== undefined) call(nextCall, next);
      };
      for (let lane = 0; lane < lanes; lane++) next();
    });
  clock.runAll();
  return { refusedCalls, mostCalls, longestWaitMs };
}

/** @param arrivals in seconds, sorted */
export function findFullestMinute(arrivals: readonly number[]): readonly number[] {
  let [from, to] = [0, 0];
  for (let start = 0, end = 0; end < arrivals.length; end++) {
    while ((arrivals[end] ?? 0) - (arrivals[start] ?? 0) >= 60) start++;
    if (end + 1 - start > to - from) [from, to] = [start, end + 1];
  }
  return arrivals.slice(from, to);
}

/** Runs callbacks in the order of their time, which alone passes. */
class FakeClock {
  #milliseconds = 0;
  readonly #due: ((() => void)[] | undefined)[] = [];

  get milliseconds(): number {
    return this.#milliseconds;
  }

  schedule(delayMs: number, run: () => void): void {
    (this.#due[this.#milliseconds + Math.round(delayMs)] ??= []).push(run);
  }

  runAll(): void {
    for (; this.#milliseconds < this.#due.length; this.#milliseconds++)
      for (const run of this.#due[this.#milliseconds] ?? []) run();
  }
}
