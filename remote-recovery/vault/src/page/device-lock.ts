import type { DeviceAccount } from "@relicario/shared/contract";
import { PortalError } from "@relicario/shared/errors";

import {
  finishLock,
  isSignInAfterLock,
  getLockedSince,
  markLocked,
  markUnlocked,
  readDeviceRecord,
  type DeviceRecord,
} from "../device/device.ts";
import type { PageEnvironment, PendingLock } from "../device/idle-lock.ts";
import type { FreshSignIn } from "../sign-in/sign-in-gate.ts";

/** The lock of this tab, and the lock saved on the device, which outlives the page. */
export interface DeviceLock {
  /** Locks this tab synchronously; resolves when the lock is saved on the device. */
  readonly lock: () => Promise<void>;
  /** Called when the vault was unlocked in this tab. */
  readonly clear: () => void;
  readonly isLocked: () => Promise<boolean>;
  readonly isDeviceLocked: () => Promise<boolean>;
  /**
   * Saves a pending lock. Then unlocks an own device if the page reports a sign-in after the lock,
   * and `signInSilently` confirms one.
   */
  readonly unlockByReportedSignIn: (signInSilently: SignIn) => Promise<void>;
  /**
   * Asks for a sign-in to unlock the device. Returns false, without asking, if the device has no
   * keys. Rejects with `login_required` if the sign-in did not come after the lock.
   */
  readonly unlockByFreshSignIn: (signIn: SignIn) => Promise<boolean>;
}

/** Rejects unless the person has signed in. `maxAge`: seconds since the lock. */
type SignIn = (maxAge: number) => Promise<FreshSignIn>;

/**
 * @param authTime of the sign-in that led to this page, as the page reports; seconds since 1970. It
 *   unlocks nothing: an older sign-in does not count after a lock
 */
export function createDeviceLock(
  account: DeviceAccount,
  authTime: number | undefined,
  environment: PageEnvironment,
): DeviceLock {
  /** Last sign-in that this tab knows of; seconds since 1970. */
  let lastSignIn = authTime ?? null;
  let lockedInTab = false;

  async function save({ at, signIn }: PendingLock): Promise<void> {
    await markLocked(account, at, signIn);
    environment.pendingLock.set(null);
  }

  const isDeviceLocked = async (): Promise<boolean> => (await readDeviceRecord(account)).locked;

  async function unlockBy(signIn: SignIn, record: DeviceRecord, lockedAt: number): Promise<void> {
    const { authTime: freshAuthTime } = await signIn((environment.now() - lockedAt) / 1000);
    lastSignIn = freshAuthTime;
    if (!isSignInAfterLock(record, lockedAt, freshAuthTime)) throw new PortalError("login_required");
    await markUnlocked(account, environment.now());
  }

  return {
    lock: () => {
      lockedInTab = true; // first, because a worker that starts before the lock is saved must be locked too
      const pendingLock = { at: environment.now(), signIn: lastSignIn };
      environment.pendingLock.set(pendingLock); // the page may be closed before the lock is saved
      return save(pendingLock); // immediately, because a starting tab reads it
    },
    clear: () => {
      lockedInTab = false;
      environment.pendingLock.set(null);
    },
    isLocked: async () => lockedInTab || isDeviceLocked(),
    isDeviceLocked,
    unlockByReportedSignIn: async (signInSilently) => {
      const pendingLock = environment.pendingLock.get();
      if (pendingLock !== null) await save(pendingLock); // from a page that closed before its lock was saved
      await finishLock(account, environment.now());
      const record = await readDeviceRecord(account);
      const lockedAt = getLockedSince(record, environment.now());
      if (lockedInTab || record.kind !== "own" || record.metadataKeys === null || lockedAt === null) return;
      if (authTime === undefined || !isSignInAfterLock(record, lockedAt, authTime)) return;
      await unlockBy(signInSilently, record, lockedAt).catch(() => undefined); // the person can ask for a window
    },
    unlockByFreshSignIn: async (signIn) => {
      await finishLock(account, environment.now());
      const record = await readDeviceRecord(account);
      if (record.metadataKeys === null) return false;
      const lockedAt = getLockedSince(record, environment.now()); // null if another tab has unlocked the device
      if (lockedAt !== null) await unlockBy(signIn, record, lockedAt);
      lockedInTab = false;
      return true;
    },
  };
}
