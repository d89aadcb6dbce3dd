import { Tally } from "./tally.ts";

interface Waiting {
  readonly cost: number;
  readonly begin: (end: () => void) => void;
}

/** What is done for one address at a time: so much, and the rest waits in its order. Nobody else waits behind it. */
export class Turns {
  readonly #budget: number;
  readonly #running = new Tally();
  readonly #waiting = new Map<string, Waiting[]>();

  constructor(budget: number) {
    this.#budget = budget;
  }

  /** Resolves when it is its turn, with the function that ends it. What costs more than there is waits until it is alone. */
  enter(who: string, cost: number): Promise<() => void> {
    return new Promise((begin) => {
      const queue = this.#waiting.get(who) ?? [];
      queue.push({ cost: Math.min(cost, this.#budget), begin });
      this.#waiting.set(who, queue);
      this.#advance(who);
    });
  }

  #advance(who: string): void {
    const queue = this.#waiting.get(who) ?? [];
    for (let first = queue[0]; first !== undefined && this.#running.of(who) + first.cost <= this.#budget; first = queue[0]) {
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
