import type { ServerResponse } from "node:http";

import { Problem } from "./problem.ts";
import { createKeyedLock, type KeyedLock } from "./keyed-lock.ts";

/**
 * Maximum calls of one account in flight in this process. Enough for several tabs and devices: each
 * makes at most six calls at a time.
 */
export const maxCallsInFlight = 32;

/**
 * Maximum downloads of one account in flight in this process; each also counts as a call. A
 * download is costly, because it reads ahead and verifies. A browser makes one at a time.
 */
export const maxDownloadsInFlight = 6;

/**
 * Limits on one account's concurrent work in this process, so that it cannot exhaust shared
 * resources. A call that waits here holds no database connection; a call that waits for the lock
 * of the account's row holds one.
 */
export interface AccountConcurrency {
  /**
   * Counts a call until its response is sent or its connection closed. @throws Problem
   * `too_many_requests` with `Retry-After`
   */
  admitCall(accountId: string, response: ServerResponse): void;
  /** Counts a download in addition. @throws Problem `too_many_requests` with `Retry-After` */
  admitDownload(accountId: string, response: ServerResponse): void;
  /**
   * Runs an account's writes one after another. The queue holds at most the account's calls in
   * flight, and calls whose caller has disconnected.
   */
  readonly runWriteExclusive: KeyedLock;
  /** Reads pages of an account's list one after another: a page may be a megabyte. */
  readonly runListReadExclusive: KeyedLock;
}

export function createAccountConcurrency(): AccountConcurrency {
  return {
    admitCall: limitInFlight(maxCallsInFlight),
    admitDownload: limitInFlight(maxDownloadsInFlight),
    runWriteExclusive: createKeyedLock(),
    runListReadExclusive: createKeyedLock(),
  };
}

function limitInFlight(max: number): (accountId: string, response: ServerResponse) => void {
  const countsInFlight = new Map<string, number>();
  return (accountId, response) => {
    const count = countsInFlight.get(accountId) ?? 0;
    if (count >= max) throw new Problem("too_many_requests", { headers: { "retry-after": "1" } });
    countsInFlight.set(accountId, count + 1);
    const release = (): void => {
      const remaining = (countsInFlight.get(accountId) ?? 1) - 1;
      if (remaining === 0) countsInFlight.delete(accountId);
      else countsInFlight.set(accountId, remaining);
    };
    // One listener: `finished` adds two, and with those of Fastify Node warns of a leak above ten.
    if (response.closed) release();
    else response.once("close", release);
  };
}
