import type { MarkedLock, Surroundings } from "../device/idle.ts";

/** One machine: its clock, and the channels between its tabs. */
export interface FakeMachine {
  now: number;
  /** A tab of it. */
  readonly tab: () => FakeTab;
}

export interface FakeTab extends Surroundings {
  /** The person does something in this tab. */
  readonly act: () => void;
  /**
   * Runs what is due by the machine's clock. A machine that sleeps runs nothing: only the clock
   * moves.
   */
  readonly wake: () => void;
  /** Listeners, timers and channels that are left. */
  readonly left: () => number;
}

export function createFakeMachine(): FakeMachine {
  const hub = new Map<object, { account: string; onMessage: (message: unknown) => void }>();
  let marked: MarkedLock | null = null;
  const machine: FakeMachine = {
    now: Date.parse("2026-11-21T10:00:00.000Z"),
    tab: () => {
      const listeners = new Set<() => void>();
      const timers = new Map<object, { at: number; run: () => void }>();
      const open = new Set<object>();
      return {
        origin: () => "https://portal.example",
        now: () => machine.now,
        onActivity: (listener) => {
          listeners.add(listener);
          return () => listeners.delete(listener);
        },
        later: (run, milliseconds) => {
          const timer = {};
          timers.set(timer, { at: machine.now + milliseconds, run });
          return () => timers.delete(timer);
        },
        channel: (account, onMessage) => {
          const own = {};
          open.add(own);
          hub.set(own, { account, onMessage });
          return {
            post: (message) => {
              for (const [end, other] of hub)
                if (end !== own && other.account === account) other.onMessage(structuredClone(message));
            },
            close: () => {
              open.delete(own);
              hub.delete(own);
            },
          };
        },
        lockMark: {
          get: () => marked,
          set: (lock) => {
            marked = lock;
          },
        },
        act: () => {
          for (const listener of [...listeners]) listener();
        },
        wake: () => {
          for (const [timer, { at, run }] of [...timers]) {
            if (at > machine.now) continue;
            timers.delete(timer);
            run();
          }
        },
        left: () => listeners.size + timers.size + open.size,
      };
    },
  };
  return machine;
}
