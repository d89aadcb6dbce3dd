import { Counter } from "./counter.ts";

interface Waiter {
  readonly cost: number;
  readonly start: (end: () => void) => void;
}

/**
 * What is done for one address at a time: so much, and the rest waits in its order. Nobody else
 * waits behind it.
 */
export class KeyedSemaphore {
  readonly #budget: number;
  readonly #running = new Counter();
  readonly #queues = new Map<string, Waiter[]>();

  constructor(budget: number) {
    this.#budget = budget;
  }

  /**
   * Calls `start` when it is its turn, with the function that ends it. What costs more than there
   * is waits until it is alone.
   *
   * @returns gives the place up while it still waits, and does nothing after that.
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
      this.#advance(key); // it may have been the large one that the next waited behind
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
