import type { ServerResponse } from "node:http";
import { finished } from "node:stream";

import { Problem } from "./problem.ts";
import { createKeyedLock, type KeyedLock } from "./keyed-lock.ts";

/**
 * Of one account at a time, in each process. A browser makes six; this is enough for several tabs
 * and devices.
 */
export const maxCallsInFlight = 32;

/**
 * Downloads among them: each reads ahead, and checks what it reads. A browser takes one at a time.
 */
export const maxDownloadsInFlight = 6;

/**
 * What one account may have under way in this process, so that it cannot take what all accounts
 * share. The database holds the account's row anyway; here its calls wait without a connection.
 */
export interface AccountConcurrency {
  /**
   * Counts one call until its answer has gone out or its caller went away. @throws Problem
   * `too_many_requests` with `Retry-After`.
   */
  trackCall(accountId: string, response: ServerResponse): void;
  /** Counts a download as well. @throws Problem `too_many_requests` with `Retry-After`. */
  trackDownload(accountId: string, response: ServerResponse): void;
  /**
   * By account: what it writes goes one after the other. No more wait than calls are in flight, and
   * those whose caller went away.
   */
  readonly runExclusive: KeyedLock;
  /** Pages of its list likewise: each may be a megabyte. */
  readonly runPageExclusive: KeyedLock;
}

export function createAccountConcurrency(): AccountConcurrency {
  return {
    trackCall: limitInFlight(maxCallsInFlight),
    trackDownload: limitInFlight(maxDownloadsInFlight),
    runExclusive: createKeyedLock(),
    runPageExclusive: createKeyedLock(),
  };
}

function limitInFlight(max: number): (accountId: string, response: ServerResponse) => void {
  const countsInFlight = new Map<string, number>();
  return (accountId, response) => {
    const count = countsInFlight.get(accountId) ?? 0;
    if (count >= max) throw new Problem("too_many_requests", { headers: { "retry-after": "1" } });
    countsInFlight.set(accountId, count + 1);
    finished(response, () => {
      const remaining = (countsInFlight.get(accountId) ?? 1) - 1;
      if (remaining === 0) countsInFlight.delete(accountId);
      else countsInFlight.set(accountId, remaining);
    });
  };
}
