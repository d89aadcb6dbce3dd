import { pipeline, Transform, type Readable } from "node:stream";

/** How long an IP address is active after a call. */
const activeWindowMs = 1_000;
/** Burst: work that takes this time proceeds at once, so that pages and lists never wait. */
const burstMs = 100;
/** Number of tracked IP addresses above which those that owe nothing are dropped. */
const maxTrackedClients = 1_000;

/**
 * Limits the byte rate of an IP address while others are active: bytes cost time here and at
 * upstreams, and one IP address could take all of it.
 */
export class TokenBucket {
  readonly #bytesPerMs: number;
  /** When each IP address has paid its debt (`performance.now`). */
  readonly #paidAt = new Map<string, number>();
  #recentCalls: readonly { readonly client: string; readonly calledAt: number }[] = [];

  constructor(bytesPerSecond: number) {
    this.#bytesPerMs = bytesPerSecond / 1_000;
  }

  recordCall(client: string): void {
    this.#recentCalls = [
      { client, calledAt: performance.now() },
      ...this.#recentCalls.filter((call) => call.client !== client),
    ].slice(0, 2);
  }

  /** Limits all but the first `prepaidBytes`. Destroys `source` when the result is destroyed. */
  throttle(client: string, source: Readable, prepaidBytes = 0): Transform {
    // the reader of the result gets the error
    return pipeline(source, this.createTransform(client, prepaidBytes), () => undefined);
  }

  createTransform(client: string, prepaidBytes = 0): Transform {
    let prepaidLeft = prepaidBytes;
    return new Transform({
      transform: (chunk: Buffer, _encoding, done) => {
        const cost = Math.max(0, chunk.length - prepaidLeft);
        prepaidLeft -= chunk.length - cost;
        this.acquire(client, cost, () => {
          done(null, chunk);
        });
      },
    });
  }

  /** Calls `proceed` at once while no other IP address is active. */
  acquire(client: string, bytes: number, proceed: () => void): void {
    const now = performance.now();
    if (
      bytes === 0 ||
      !this.#recentCalls.some((call) => call.client !== client && now - call.calledAt < activeWindowMs)
    ) {
      proceed();
      return;
    }
    if (this.#paidAt.size >= maxTrackedClients)
      for (const [key, paidAt] of this.#paidAt) if (paidAt <= now) this.#paidAt.delete(key);
    const paidAt = Math.max(this.#paidAt.get(client) ?? 0, now) + bytes / this.#bytesPerMs;
    this.#paidAt.set(client, paidAt);
    const waitMs = paidAt - now - burstMs;
    if (waitMs <= 0) proceed();
    else setTimeout(proceed, waitMs);
  }
}
