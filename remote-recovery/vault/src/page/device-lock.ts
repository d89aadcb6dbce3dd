import type { DeviceAccount } from "@relicario/shared/contract";
import { PortalError } from "@relicario/shared/errors";

import {
  finishLock,
  isSignInAfterLock,
  getLockedSince,
  markLocked,
  markUnlocked,
  readDeviceRecord,
} from "../device/device.ts";
import type { PageEnvironment, PendingLock } from "../device/idle-lock.ts";

/** Whether this tab is locked, and its device, where the lock outlives the page. */
export interface DeviceLock {
  /** Locks this tab at once; answers when the device has it, for a page loaded later. */
  readonly lock: () => Promise<void>;
  /** The vault was unlocked in this tab. */
  readonly clear: () => void;
  readonly isLocked: () => Promise<boolean>;
  readonly isDeviceLocked: () => Promise<boolean>;
  /**
   * On an own device a sign-in that is not older than the lock undoes it, whether it was asked for
   * here or led to this page.
   */
  readonly unlockByKnownSignIn: () => Promise<void>;
  /**
   * The same by a fresh sign-in. False, without one, where this device keeps no key;
   * `login_required` when the sign-in is older than the lock.
   */
  readonly unlockByFreshSignIn: (signInAgain: () => Promise<{ readonly authTime: number }>) => Promise<boolean>;
}

/** @param authTime of the sign-in that led to this page; seconds */
export function createDeviceLock(
  account: DeviceAccount,
  authTime: number | undefined,
  environment: PageEnvironment,
): DeviceLock {
  /** The newest sign-in that this tab knows of; seconds. */
  let lastSignIn = authTime ?? null;
  let lockedInTab = false;

  async function save({ at, signIn }: PendingLock): Promise<void> {
    await markLocked(account, at, signIn);
    environment.pendingLock.set(null);
  }

  const isDeviceLocked = async (): Promise<boolean> => (await readDeviceRecord(account)).locked;

  return {
    lock: () => {
      lockedInTab = true; // a worker that is asked for before the device has kept it starts locked too
      const pendingLock = { at: environment.now(), signIn: lastSignIn };
      environment.pendingLock.set(pendingLock); // the page may be gone before the device has it
      return save(pendingLock); // at once: a tab that is starting looks at it
    },
    clear: () => {
      lockedInTab = false;
      environment.pendingLock.set(null);
    },
    isLocked: async () => lockedInTab || isDeviceLocked(),
    isDeviceLocked,
    unlockByKnownSignIn: async () => {
      const pendingLock = environment.pendingLock.get();
      if (pendingLock !== null) await save(pendingLock); // by a page that was gone before the device had it
      await finishLock(account, environment.now());
      const record = await readDeviceRecord(account);
      const lockedAt = getLockedSince(record, environment.now());
      if (
        lockedInTab ||
        record.kind !== "own" ||
        record.metadataKeys === null ||
        lockedAt === null ||
        authTime === undefined
      )
        return;
      if (isSignInAfterLock(record, lockedAt, authTime)) await markUnlocked(account, environment.now());
    },
    unlockByFreshSignIn: async (signInAgain) => {
      await finishLock(account, environment.now());
      const record = await readDeviceRecord(account);
      if (record.metadataKeys === null) return false;
      const lockedAt = getLockedSince(record, environment.now()); // null: another tab was unlocked since
      if (lockedAt !== null) {
        const signIn = await signInAgain();
        lastSignIn = signIn.authTime;
        if (!isSignInAfterLock(record, lockedAt, signIn.authTime)) throw new PortalError("login_required");
        await markUnlocked(account, environment.now());
      }
      lockedInTab = false;
      return true;
    },
  };
}
