import type { PendingLock, PageEnvironment } from "../device/idle-lock.ts";

/** A machine with one clock, and the channels between its tabs. */
export interface FakeMachine {
  now: number;
  /** Opens a tab. */
  readonly openTab: () => FakeTab;
}

export interface FakeTab extends PageEnvironment {
  /** Simulates activity of the user in this tab. */
  readonly triggerActivity: () => void;
  /** Runs due timers. In a sleeping machine only the clock advances. */
  readonly runDueTimers: () => void;
  /** Number of listeners, timers and channels that were not removed. */
  readonly leftoverCount: () => number;
}

export function createFakeMachine(): FakeMachine {
  const channels = new Map<object, { account: string; onMessage: (message: unknown) => void }>();
  let pendingLock: PendingLock | null = null;
  const machine: FakeMachine = {
    now: Date.parse("2026-11-21T10:00:00.000Z"),
    openTab: () => {
      const listeners = new Set<() => void>();
      const timers = new Map<object, { dueAt: number; callback: () => void }>();
      const openChannels = new Set<object>();
      return {
        origin: () => "https://portal.example",
        now: () => machine.now,
        onActivity: (listener) => {
          listeners.add(listener);
          return () => listeners.delete(listener);
        },
        schedule: (callback, milliseconds) => {
          const timer = {};
          timers.set(timer, { dueAt: machine.now + milliseconds, callback });
          return () => timers.delete(timer);
        },
        channel: (account, onMessage) => {
          const channelKey = {};
          openChannels.add(channelKey);
          channels.set(channelKey, { account, onMessage });
          return {
            post: (message) => {
              for (const [key, otherChannel] of channels)
                if (key !== channelKey && otherChannel.account === account)
                  otherChannel.onMessage(structuredClone(message));
            },
            close: () => {
              openChannels.delete(channelKey);
              channels.delete(channelKey);
            },
          };
        },
        pendingLock: {
          get: () => pendingLock,
          set: (lock) => {
            pendingLock = lock;
          },
        },
        triggerActivity: () => {
          for (const listener of [...listeners]) listener();
        },
        runDueTimers: () => {
          for (const [timer, { dueAt, callback }] of [...timers]) {
            if (dueAt > machine.now) continue;
            timers.delete(timer);
            callback();
          }
        },
        leftoverCount: () => listeners.size + timers.size + openChannels.size,
      };
    },
  };
  return machine;
}
