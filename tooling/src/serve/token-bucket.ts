import { pipeline, Transform, type Readable } from "node:stream";

/** Others count as being there for so long after a call of theirs. */
const activeWindowMs = 1_000;
/** What is taken within so much time goes on at once, so that pages and lists never wait. */
const burstMs = 100;
/** Addresses that are remembered before those that owe nothing are forgotten. */
const maxTrackedClients = 1_000;

/**
 * How fast bytes of one address go on while others are there: each byte is some work here and at
 * each server behind, and whoever moves as many as will go has all of it. Alone, an address moves
 * what it can.
 */
export class TokenBucket {
  readonly #bytesPerMs: number;
  /** When each address has paid for what it took, in milliseconds of `performance.now`. */
  readonly #paidAt = new Map<string, number>();
  /** The two addresses that called last. */
  #recentCalls: readonly { readonly client: string; readonly calledAt: number }[] = [];

  constructor(bytesPerSecond: number) {
    this.#bytesPerMs = bytesPerSecond / 1_000;
  }

  /** A call of this address. */
  recordCall(client: string): void {
    this.#recentCalls = [
      { client, calledAt: performance.now() },
      ...this.#recentCalls.filter((call) => call.client !== client),
    ].slice(0, 2);
  }

  /**
   * The same bytes, as fast as this address may move them, `prepaidBytes` of them at once. Destroys
   * `source` when it is destroyed.
   */
  throttle(client: string, source: Readable, prepaidBytes = 0): Transform {
    // whoever reads it hears what failed
    return pipeline(source, this.createTransform(client, prepaidBytes), () => undefined);
  }

  /** What bytes of this address go through. */
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

  /**
   * Calls `proceed` when this address may move so many bytes, at once while nobody else is there.
   */
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
