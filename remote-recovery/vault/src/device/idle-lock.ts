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
 *    has to be kept is written at once (PendingLockStore), and a page loaded later keeps it first.
 * 4. A page loaded later starts locked when the lock is kept, or when the last activity is too long
 *    ago, or said to be in the future.
 * 5. Unlocking is an act: an opener, or on an own device a sign-in that is not older than the lock.
 */

/** What the tabs of one account tell each other. */
const TabMessage = z.discriminatedUnion("kind", [
  z.strictObject({ kind: z.literal("activity"), at: z.int().min(0) }),
  z.strictObject({ kind: z.literal("lock") }),
  z.strictObject({
    kind: z.literal("minutes"),
    minutes: z.int().min(autoLockMinutes.minimum).max(autoLockMinutes.maximum),
  }),
]);
type TabMessage = z.infer<typeof TabMessage>;

/** What {@link createIdleLock} uses of the page; a seam for tests. */
export interface PageEnvironment {
  /** Of the portal's address. */
  readonly origin: () => string;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** Calls back at each sign of the person; returns its undo. */
  readonly onActivity: (listener: () => void) => () => void;
  /** Calls back once; returns its undo. */
  readonly schedule: (callback: () => void, milliseconds: number) => () => void;
  /** To the other tabs of this account; null where there is none. */
  readonly channel: (
    account: string,
    onMessage: (message: unknown) => void,
  ) => { readonly post: (message: unknown) => void; readonly close: () => void } | null;
  readonly pendingLock: PendingLockStore;
}

/**
 * A lock that the device has not kept yet; written and read without waiting. It says nothing of
 * whose it is.
 */
interface PendingLockStore {
  readonly get: () => PendingLock | null;
  readonly set: (lock: PendingLock | null) => void;
}

const PendingLock = z.strictObject({ at: z.int().min(0), signIn: z.int().min(0).nullable() });
/**
 * When the device was locked, in milliseconds since 1970, and the newest sign-in before that, in
 * seconds.
 */
export type PendingLock = z.infer<typeof PendingLock>;

export interface IdleLockOptions {
  /** Names the account on this device. */
  readonly account: string;
  readonly minutes: number;
  /**
   * Locks this tab; called once for each lock, also when another tab locked: then whatever this one
   * is doing.
   */
  readonly lock: () => void;
  /** Keeps it beside the wrapped key. */
  readonly save: (change: { readonly lastActivity?: number; readonly autoLockMinutes?: number }) => void;
}

export interface IdleLock {
  readonly getMinutes: () => number;
  /** @throws PortalError `validation_error`. */
  readonly setMinutes: (minutes: number) => void;
  /** From now on activity counts. Without effect when it does already. */
  readonly watch: () => void;
  /** Until {@link watch}: nothing is left to lock. */
  readonly pause: () => void;
  /** Tells the other tabs that this one locked. */
  readonly broadcastLock: () => void;
  readonly dispose: () => void;
}

/** So often activity is written down and told, at most. */
const saveIntervalMilliseconds = 10_000;

export function createIdleLock(
  { account, minutes: initialMinutes, lock, save }: IdleLockOptions,
  { now, onActivity, schedule, channel }: PageEnvironment,
): IdleLock {
  let minutes = initialMinutes;
  let lastActivity = now();
  let lastSaved = 0;
  let stopListening: (() => void) | null = null;
  let cancelTimer: () => void = () => undefined;

  const timeoutMilliseconds = (): number => minutes * 60_000;
  const tabChannel = channel(account, (message) => {
    const parsed = TabMessage.safeParse(message);
    if (parsed.success) handleMessage(parsed.data); // another release may say more than we know
  });

  function handleMessage(message: TabMessage): void {
    if (message.kind === "minutes") {
      minutes = message.minutes;
      scheduleExpiry();
    } else if (message.kind === "activity") lastActivity = Math.max(lastActivity, Math.min(message.at, now()));
    else lock();
  }

  function handleActivity(): void {
    const at = now();
    if (at - lastActivity >= timeoutMilliseconds()) {
      expire();
      return;
    }
    lastActivity = Math.max(lastActivity, at);
    if (at - lastSaved < saveIntervalMilliseconds) return;
    lastSaved = at;
    save({ lastActivity: at });
    tabChannel?.post({ kind: "activity", at } satisfies TabMessage);
  }

  /** Tells the other tabs too: their timers may be suspended. */
  function expire(): void {
    tabChannel?.post({ kind: "lock" } satisfies TabMessage);
    lock();
  }

  /** Looks again when the newest activity that is known would be too long ago. */
  function scheduleExpiry(): void {
    cancelTimer();
    if (stopListening === null) return;
    const remaining = lastActivity + timeoutMilliseconds() - now();
    if (remaining <= 0) expire();
    else cancelTimer = schedule(scheduleExpiry, remaining);
  }

  function pause(): void {
    cancelTimer();
    stopListening?.();
    stopListening = null;
  }

  return {
    getMinutes: () => minutes,
    setMinutes: (newMinutes) => {
      if (!Number.isInteger(newMinutes) || newMinutes < autoLockMinutes.minimum || newMinutes > autoLockMinutes.maximum)
        throw new PortalError("validation_error", { details: { fields: ["minutes"] } });
      minutes = newMinutes;
      save({ autoLockMinutes: newMinutes });
      tabChannel?.post({ kind: "minutes", minutes: newMinutes } satisfies TabMessage);
      scheduleExpiry();
    },
    watch: () => {
      if (stopListening !== null) return;
      stopListening = onActivity(handleActivity);
      lastActivity = now(); // unlocking is activity
      lastSaved = 0;
      handleActivity();
      scheduleExpiry();
    },
    pause,
    broadcastLock: () => {
      tabChannel?.post({ kind: "lock" } satisfies TabMessage);
    },
    dispose: () => {
      pause();
      tabChannel?.close();
    },
  };
}

const activityEvents = ["keydown", "pointerdown", "pointermove", "wheel", "touchstart"] as const;
/** Pointer events come a hundred times a second; one in a second is enough. */
const throttleMilliseconds = 1_000;

const pendingLockKey = "vaultLock";

/**
 * In local storage. Where that is forbidden or full, a lock holds once the device has kept it, as
 * it would without a mark.
 */
const localPendingLockStore: PendingLockStore = {
  get: () => {
    try {
      return PendingLock.parse(JSON.parse(localStorage.getItem(pendingLockKey) ?? ""));
    } catch {
      return null; // none, or not one of ours
    }
  },
  set: (lock) => {
    try {
      if (lock === null) localStorage.removeItem(pendingLockKey);
      else localStorage.setItem(pendingLockKey, JSON.stringify(lock));
    } catch {
      // The device is about to keep it.
    }
  },
};

/** The page as it is. */
export const pageEnvironment: PageEnvironment = {
  origin: () => globalThis.location.origin,
  now: Date.now,
  onActivity: (listener) => {
    if (typeof document === "undefined") return () => undefined;
    let lastCall = 0;
    const handleEvent = (): void => {
      const at = Date.now();
      if (at - lastCall < throttleMilliseconds) return;
      lastCall = at;
      listener();
    };
    const options = { capture: true, passive: true } as const;
    for (const eventName of activityEvents) document.addEventListener(eventName, handleEvent, options);
    return () => {
      for (const eventName of activityEvents) document.removeEventListener(eventName, handleEvent, options);
    };
  },
  schedule: (callback, milliseconds) => {
    const timer = setTimeout(callback, milliseconds);
    return () => {
      clearTimeout(timer);
    };
  },
  channel: (account, onMessage) => {
    if (typeof BroadcastChannel === "undefined") return null;
    const broadcastChannel = new BroadcastChannel(`relicario-vault ${account}`);
    broadcastChannel.onmessage = ({ data }: MessageEvent<unknown>) => {
      onMessage(data);
    };
    return {
      post: (message) => {
        broadcastChannel.postMessage(message);
      },
      close: () => {
        broadcastChannel.close();
      },
    };
  },
  pendingLock: localPendingLockStore,
};
