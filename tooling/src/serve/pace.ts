import { pipeline, Transform, type Readable } from "node:stream";

/** Others count as being there for so long after a call of theirs. */
const thereMs = 1_000;
/** What is taken within so much time goes on at once, so that pages and lists never wait. */
const aheadMs = 100;
/** Addresses that are remembered before those that owe nothing are forgotten. */
const mostOwing = 1_000;

/**
 * How fast bytes of one address go on while others are there: each byte is some work here and at
 * each server behind, and whoever moves as many as will go has all of it. Alone, an address moves
 * what it can.
 */
export class Pace {
  readonly #bytesPerMs: number;
  /** When each address has paid for what it took, in milliseconds of `performance.now`. */
  readonly #paidAt = new Map<string, number>();
  /** The two addresses that called last. */
  #calls: readonly { readonly who: string; readonly at: number }[] = [];

  constructor(bytesPerSecond: number) {
    this.#bytesPerMs = bytesPerSecond / 1_000;
  }

  /** A call of this address. */
  note(who: string): void {
    this.#calls = [{ who, at: performance.now() }, ...this.#calls.filter((call) => call.who !== who)].slice(0, 2);
  }

  /**
   * The same bytes, as fast as this address may move them, `paid` of them at once. Destroys
   * `source` when it is destroyed.
   */
  of(who: string, source: Readable, paid = 0): Transform {
    return pipeline(source, this.step(who, paid), () => undefined); // whoever reads it hears what failed
  }

  /** What bytes of this address go through. */
  step(who: string, paid = 0): Transform {
    let free = paid;
    return new Transform({
      transform: (piece: Buffer, _encoding, done) => {
        const cost = Math.max(0, piece.length - free);
        free -= piece.length - cost;
        this.take(who, cost, () => {
          done(null, piece);
        });
      },
    });
  }

  /** Calls `goOn` when this address may move so many bytes, at once while nobody else is there. */
  take(who: string, bytes: number, goOn: () => void): void {
    const now = performance.now();
    if (bytes === 0 || !this.#calls.some((call) => call.who !== who && now - call.at < thereMs)) {
      goOn();
      return;
    }
    if (this.#paidAt.size >= mostOwing)
      for (const [one, paidAt] of this.#paidAt) if (paidAt <= now) this.#paidAt.delete(one);
    const paidAt = Math.max(this.#paidAt.get(who) ?? 0, now) + bytes / this.#bytesPerMs;
    this.#paidAt.set(who, paidAt);
    const waitMs = paidAt - now - aheadMs;
    if (waitMs <= 0) goOn();
    else setTimeout(goOn, waitMs);
  }
}
