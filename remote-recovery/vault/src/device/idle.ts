import { autoLockMinutes } from "@relicario/shared/contract";
import { PortalError } from "@relicario/shared/errors";
import { z } from "zod";

/**
 * [Note: Auto-lock]
 * 1. While the vault is unlocked, each key, pointer or touch in any tab of the account is activity.
 *    The newest is kept beside the wrapped key every few seconds, and told to the other tabs.
 * 2. After the set minutes without any the vault locks, by this tab's own clock. A timer that slept
 *    with the machine is late, so activity itself looks first whether it comes too late.
 * 3. A lock ends the worker, is kept beside the wrapped key with its time, and reaches the other
 *    tabs: also one that is just starting, which has nothing to lock yet. Messages get lost (a page
 *    that the browser put aside hears none): what the device keeps is looked at when a worker has
 *    started, and before activity is written down. A page may be closed as soon as it locks: what
 *    has to be kept is written at once (LockMark), and a page loaded later keeps it first.
 * 4. A page loaded later starts locked when the lock is kept, or when the last activity is too long
 *    ago, or said to be in the future.
 * 5. Unlocking is an act: an opener, or on an own device a sign-in that is not older than the lock.
 */

/** What the tabs of one account tell each other. */
const TabMessage = z.discriminatedUnion("kind", [
  z.strictObject({ kind: z.literal("activity"), at: z.int().min(0) }),
  z.strictObject({ kind: z.literal("lock") }),
  z.strictObject({ kind: z.literal("minutes"), minutes: z.int().min(autoLockMinutes.least).max(autoLockMinutes.most) }),
]);
type TabMessage = z.infer<typeof TabMessage>;

/** What {@link createIdleLock} uses of the page; a seam for tests. */
export interface Surroundings {
  /** Of the portal's address. */
  readonly origin: () => string;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** Calls back at each sign of the person; returns its undo. */
  readonly onActivity: (listener: () => void) => () => void;
  /** Calls back once; returns its undo. */
  readonly later: (run: () => void, milliseconds: number) => () => void;
  /** To the other tabs of this account; null where there is none. */
  readonly channel: (
    account: string,
    onMessage: (message: unknown) => void,
  ) => { readonly post: (message: unknown) => void; readonly close: () => void } | null;
  readonly lockMark: LockMark;
}

/**
 * A lock that the device has not kept yet; written and read without waiting. It says nothing of
 * whose it is.
 */
export interface LockMark {
  readonly get: () => MarkedLock | null;
  readonly set: (lock: MarkedLock | null) => void;
}

const MarkedLock = z.strictObject({ at: z.int().min(0), signIn: z.int().min(0).nullable() });
/**
 * When the device was locked, in milliseconds since 1970, and the newest sign-in before that, in
 * seconds.
 */
export type MarkedLock = z.infer<typeof MarkedLock>;

export interface IdleLockParts {
  /** Names the account on this device. */
  readonly account: string;
  readonly minutes: number;
  /**
   * Locks this tab; called once for each lock, also when another tab locked: then whatever this one
   * is doing.
   */
  readonly lock: () => void;
  /** Keeps it beside the wrapped key. */
  readonly keep: (change: { readonly lastActivity?: number; readonly autoLockMinutes?: number }) => void;
}

export interface IdleLock {
  readonly getMinutes: () => number;
  /** @throws PortalError `validation_error`. */
  readonly setMinutes: (minutes: number) => void;
  /** From now on activity counts. Without effect when it does already. */
  readonly watch: () => void;
  /** Until {@link watch}: nothing is left to lock. */
  readonly rest: () => void;
  /** Tells the other tabs that this one locked. */
  readonly tellLocked: () => void;
  readonly dispose: () => void;
}

/** So often activity is written down and told, at most. */
const keepMilliseconds = 10_000;

export function createIdleLock(
  { account, minutes: atFirst, lock, keep }: IdleLockParts,
  { now, onActivity, later, channel }: Surroundings,
): IdleLock {
  let minutes = atFirst;
  let last = now();
  let kept = 0;
  let stop: (() => void) | null = null;
  let stopTimer: () => void = () => undefined;

  const limit = (): number => minutes * 60_000;
  const tabs = channel(account, (message) => {
    const parsed = TabMessage.safeParse(message);
    if (parsed.success) hear(parsed.data); // another release may say more than we know
  });

  function hear(message: TabMessage): void {
    if (message.kind === "minutes") {
      minutes = message.minutes;
      wait();
    } else if (message.kind === "activity") last = Math.max(last, Math.min(message.at, now()));
    else lock();
  }

  function act(): void {
    const at = now();
    if (at - last >= limit()) {
      expire();
      return;
    }
    last = Math.max(last, at);
    if (at - kept < keepMilliseconds) return;
    kept = at;
    keep({ lastActivity: at });
    tabs?.post({ kind: "activity", at } satisfies TabMessage);
  }

  /** Tells the other tabs too: their timers may be suspended. */
  function expire(): void {
    tabs?.post({ kind: "lock" } satisfies TabMessage);
    lock();
  }

  /** Looks again when the newest activity that is known would be too long ago. */
  function wait(): void {
    stopTimer();
    if (stop === null) return;
    const left = last + limit() - now();
    if (left <= 0) expire();
    else stopTimer = later(wait, left);
  }

  function rest(): void {
    stopTimer();
    stop?.();
    stop = null;
  }

  return {
    getMinutes: () => minutes,
    setMinutes: (next) => {
      if (!Number.isInteger(next) || next < autoLockMinutes.least || next > autoLockMinutes.most)
        throw new PortalError("validation_error", { details: { fields: ["minutes"] } });
      minutes = next;
      keep({ autoLockMinutes: next });
      tabs?.post({ kind: "minutes", minutes: next } satisfies TabMessage);
      wait();
    },
    watch: () => {
      if (stop !== null) return;
      stop = onActivity(act);
      last = now(); // unlocking is activity
      kept = 0;
      act();
      wait();
    },
    rest,
    tellLocked: () => {
      tabs?.post({ kind: "lock" } satisfies TabMessage);
    },
    dispose: () => {
      rest();
      tabs?.close();
    },
  };
}

const signs = ["keydown", "pointerdown", "pointermove", "wheel", "touchstart"] as const;
/** Pointer events come a hundred times a second; one in a second is enough. */
const noticeMilliseconds = 1_000;

const lockMarkKey = "vaultLock";

/**
 * In local storage. Where that is forbidden or full, a lock holds once the device has kept it, as
 * it would without a mark.
 */
const storedLockMark: LockMark = {
  get: () => {
    try {
      return MarkedLock.parse(JSON.parse(localStorage.getItem(lockMarkKey) ?? ""));
    } catch {
      return null; // none, or not one of ours
    }
  },
  set: (lock) => {
    try {
      if (lock === null) localStorage.removeItem(lockMarkKey);
      else localStorage.setItem(lockMarkKey, JSON.stringify(lock));
    } catch {
      // The device is about to keep it.
    }
  },
};

/** The page as it is. */
export const pageSurroundings: Surroundings = {
  origin: () => globalThis.location.origin,
  now: Date.now,
  onActivity: (listener) => {
    if (typeof document === "undefined") return () => undefined;
    let noticed = 0;
    const notice = (): void => {
      const at = Date.now();
      if (at - noticed < noticeMilliseconds) return;
      noticed = at;
      listener();
    };
    const options = { capture: true, passive: true } as const;
    for (const sign of signs) document.addEventListener(sign, notice, options);
    return () => {
      for (const sign of signs) document.removeEventListener(sign, notice, options);
    };
  },
  later: (run, milliseconds) => {
    const timer = setTimeout(run, milliseconds);
    return () => {
      clearTimeout(timer);
    };
  },
  channel: (account, onMessage) => {
    if (typeof BroadcastChannel === "undefined") return null;
    const tabs = new BroadcastChannel(`relicario-vault ${account}`);
    tabs.onmessage = ({ data }: MessageEvent<unknown>) => {
      onMessage(data);
    };
    return {
      post: (message) => {
        tabs.postMessage(message);
      },
      close: () => {
        tabs.close();
      },
    };
  },
  lockMark: storedLockMark,
};
