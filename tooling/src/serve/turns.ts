import { Tally } from "./tally.ts";

interface Waiting {
  readonly cost: number;
  readonly begin: (end: () => void) => void;
}

/**
 * What is done for one address at a time: so much, and the rest waits in its order. Nobody else
 * waits behind it.
 */
export class Turns {
  readonly #budget: number;
  readonly #running = new Tally();
  readonly #waiting = new Map<string, Waiting[]>();

  constructor(budget: number) {
    this.#budget = budget;
  }

  /**
   * Calls `begin` when it is its turn, with the function that ends it. What costs more than there
   * is waits until it is alone.
   *
   * @returns gives the place up while it still waits, and does nothing after that.
   */
  enter(who: string, cost: number, begin: Waiting["begin"]): () => void {
    const queue = this.#waiting.get(who) ?? [];
    const waiting = { cost: Math.min(cost, this.#budget), begin };
    queue.push(waiting);
    this.#waiting.set(who, queue);
    this.#advance(who);
    return () => {
      const place = queue.indexOf(waiting);
      if (place === -1) return;
      queue.splice(place, 1);
      this.#advance(who); // it may have been the large one that the next waited behind
    };
  }

  #advance(who: string): void {
    const queue = this.#waiting.get(who) ?? [];
    for (
      let first = queue[0];
      first !== undefined && this.#running.of(who) + first.cost <= this.#budget;
      first = queue[0]
    ) {
      queue.shift();
      const give = this.#running.take(who, first.cost);
      first.begin(() => {
        give();
        this.#advance(who);
      });
    }
    if (queue.length === 0) this.#waiting.delete(who);
  }
}
