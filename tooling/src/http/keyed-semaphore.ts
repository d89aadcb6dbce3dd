import { Counter } from "./counter.ts";

interface Waiter {
  readonly cost: number;
  readonly start: (release: () => void) => void;
}

/** Limits the cost of concurrent work per key; further work queues in order. */
export class KeyedSemaphore {
  readonly #budget: number;
  readonly #running = new Counter();
  readonly #queues = new Map<string, Waiter[]>();

  constructor(budget: number) {
    this.#budget = budget;
  }

  /**
   * Calls `start` with a release function when the budget allows it. A cost above the budget counts
   * as all of it.
   *
   * @returns a function that cancels queued work; does nothing after the start
   */
  acquire(key: string, cost: number, start: Waiter["start"]): () => void {
    const queue = this.#queues.get(key) ?? [];
    const waiter = { cost: Math.min(cost, this.#budget), start };
    queue.push(waiter);
    this.#queues.set(key, queue);
    this.#advance(key);
    return () => {
      const index = queue.indexOf(waiter);
      if (index === -1) return;
      queue.splice(index, 1);
      this.#advance(key); // the cancelled work may have blocked the work behind it
    };
  }

  #advance(key: string): void {
    const queue = this.#queues.get(key) ?? [];
    for (
      let head = queue[0];
      head !== undefined && this.#running.get(key) + head.cost <= this.#budget;
      head = queue[0]
    ) {
      queue.shift();
      const release = this.#running.acquire(key, head.cost);
      head.start(() => {
        release();
        this.#advance(key);
      });
    }
    if (queue.length === 0) this.#queues.delete(key);
  }
}
