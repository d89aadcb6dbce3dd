import { autoLockMinutes } from "@relicario/shared/contract";
import { PortalError } from "@relicario/shared/errors";
import { z } from "zod";

/**
 * [Note: Auto-lock]
 * 1. While the vault is unlocked, each key, pointer or touch event in any tab of the account is
 *    activity. The time of the newest activity is saved in the device record every few seconds and
 *    sent to the other tabs.
 * 2. The vault locks after the set minutes without activity, by this tab's clock. A timer fires
 *    late after the machine slept, so each activity first checks whether the minutes are over.
 * 3. A lock ends the worker, is saved in the device record with its time, and is sent to the other
 *    tabs, even those that are still starting. Messages can be lost (a page in the back/forward
 *    cache receives none), so the record is read when a worker has started and before activity is
 *    saved. The page may be closed before the record is written, so a lock is first written
 *    synchronously (PendingLockStore); a page loaded later saves it in the record.
 * 4. A page loaded later starts locked if a lock is saved, or if the last activity is too old or in
 *    the future.
 * 5. Unlocking needs an opener or, on an own device, a sign-in after the lock.
 */

const TabMessage = z.discriminatedUnion("kind", [
  z.strictObject({ kind: z.literal("activity"), at: z.int().min(0) }),
  z.strictObject({ kind: z.literal("lock") }),
  z.strictObject({
    kind: z.literal("minutes"),
    minutes: z.int().min(autoLockMinutes.minimum).max(autoLockMinutes.maximum),
  }),
]);
type TabMessage = z.infer<typeof TabMessage>;

/** The parts of the page that {@link createIdleLock} uses; tests replace them. */
export interface PageEnvironment {
  readonly origin: () => string;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** Calls `listener` at each activity. Returns a function that stops this. */
  readonly onActivity: (listener: () => void) => () => void;
  /** Schedules `callback`; returns a cancel function. */
  readonly schedule: (callback: () => void, milliseconds: number) => () => void;
  /** Opens a channel to the other tabs of the account; null if the browser has no channels. */
  readonly channel: (
    account: string,
    onMessage: (message: unknown) => void,
  ) => { readonly post: (message: unknown) => void; readonly close: () => void } | null;
  readonly pendingLock: PendingLockStore;
}

/**
 * Synchronous store for a lock that the device record does not contain yet. Does not name the
 * account.
 */
interface PendingLockStore {
  readonly get: () => PendingLock | null;
  readonly set: (lock: PendingLock | null) => void;
}

const PendingLock = z.strictObject({ at: z.int().min(0), signIn: z.int().min(0).nullable() });
/** Time of the lock in milliseconds since 1970, and of the last sign-in before it in seconds. */
export type PendingLock = z.infer<typeof PendingLock>;

export interface IdleLockOptions {
  /** Identifies the account on this device. */
  readonly storageKey: string;
  readonly minutes: number;
  /** Locks this tab. Called once per lock, including locks from other tabs. */
  readonly lock: () => void;
  /** Saves to the device record. */
  readonly save: (change: { readonly lastActivity?: number; readonly autoLockMinutes?: number }) => void;
}

export interface IdleLock {
  readonly getMinutes: () => number;
  /** @throws PortalError `validation_error`. */
  readonly setMinutes: (minutes: number) => void;
  /** Starts to count activity. Idempotent. */
  readonly watch: () => void;
  /** Stops until {@link watch}; called when the vault is locked. */
  readonly pause: () => void;
  readonly broadcastLock: () => void;
  readonly dispose: () => void;
}

/** Minimum time between two saves of activity. */
const saveIntervalMilliseconds = 10_000;

export function createIdleLock(
  { storageKey, minutes: initialMinutes, lock, save }: IdleLockOptions,
  { now, onActivity, schedule, channel }: PageEnvironment,
): IdleLock {
  let minutes = initialMinutes;
  let lastActivity = now();
  let lastSaved = 0;
  let stopListening: (() => void) | null = null;
  let cancelTimer: () => void = () => undefined;

  const timeoutMilliseconds = (): number => minutes * 60_000;
  const tabChannel = channel(storageKey, (message) => {
    const parsed = TabMessage.safeParse(message);
    if (parsed.success) handleMessage(parsed.data); // ignores unknown kinds, which other releases may send
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

  /** Locks this tab and the others, whose timers may be suspended. */
  function expire(): void {
    tabChannel?.post({ kind: "lock" } satisfies TabMessage);
    lock();
  }

  /** Locks if the minutes are over, else schedules the next check. */
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
/**
 * Minimum time between two pointer events that count; pointer events come a hundred times a second.
 */
const throttleMilliseconds = 1_000;

const pendingLockKey = "vaultLock";

/**
 * Uses local storage. If that is blocked or full, a lock survives only once the device record
 * contains it.
 */
const localPendingLockStore: PendingLockStore = {
  get: () => {
    try {
      return PendingLock.parse(JSON.parse(localStorage.getItem(pendingLockKey) ?? ""));
    } catch {
      return null; // none, or malformed
    }
  },
  set: (lock) => {
    try {
      if (lock === null) localStorage.removeItem(pendingLockKey);
      else localStorage.setItem(pendingLockKey, JSON.stringify(lock));
    } catch {
      // The device record is about to hold it.
    }
  },
};

/** Null if the browser has no channels, or refuses them together with storage. */
function openChannel(name: string): BroadcastChannel | null {
  try {
    return new BroadcastChannel(name);
  } catch {
    return null; // other tabs then learn of locks from the device record
  }
}

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
    const broadcastChannel = openChannel(`relicario-vault ${account}`);
    if (broadcastChannel === null) return null;
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
