import type { DeviceAccount, KeepOpen, KeepOpenDuration, KeepOpenStatus } from "@relicario/shared/contract";

import { readDeviceRecord, saveDeviceSettings } from "../device/device.ts";
import type { PageEnvironment } from "../device/idle-lock.ts";

const fiveMinutes = 5 * 60_000;

/** The time for which the worker keeps a presented opener, which only the worker has. */
export interface OpenerTimer {
  readonly keepOpen: KeepOpen;
  /**
   * Called when an opener was presented. Starts its time by the setting of the device, which
   * another tab may have changed. Returns the end in milliseconds since 1970; null if it is not
   * kept.
   */
  readonly start: () => Promise<number | null>;
  /** Called when the worker ends, as by a lock. */
  readonly end: () => void;
}

interface OpenerTimerDeps {
  readonly account: DeviceAccount;
  readonly duration: KeepOpenDuration;
  readonly environment: Pick<PageEnvironment, "now" | "schedule">;
  /** Releases the worker's opener. */
  readonly release: () => void;
  /** Called when the setting or {@link KeepOpen.getStatus} may have changed. */
  readonly onChange: () => void;
}

export function createOpenerTimer({
  account,
  duration: initialDuration,
  environment: { now, schedule },
  release,
  onChange,
}: OpenerTimerDeps): OpenerTimer {
  let duration = initialDuration;
  let status: KeepOpenStatus = "none";
  let until: number | null = null;
  let cancelTimer: () => void = () => undefined;

  function end(reason: KeepOpenStatus): void {
    cancelTimer();
    until = null;
    if (status === "none") return;
    status = reason;
    onChange();
  }

  return {
    keepOpen: Object.freeze<KeepOpen>({
      get: () => duration,
      set: (next) => {
        duration = next;
        saveDeviceSettings(account, { keepOpen: next }).catch(() => undefined); // a page loaded later asks as before
        end("setting_changed");
        release();
        onChange();
      },
      getStatus: () => (until !== null && now() >= until ? "time_over" : status),
    }),
    start: async () => {
      duration = (await readDeviceRecord(account)).keepOpen;
      cancelTimer();
      if (duration === "every_time") until = null;
      else if (duration === "until_lock") until = Infinity;
      else {
        until = now() + fiveMinutes;
        cancelTimer = schedule(() => {
          end("time_over");
          release();
        }, fiveMinutes);
      }
      status = until === null ? "none" : "open";
      onChange();
      return until;
    },
    end: () => {
      end("locked");
    },
  };
}
