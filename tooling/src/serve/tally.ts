/** How much of something is held at this moment, by whom, and altogether. */
export class Tally {
  readonly #held = new Map<string, number>();
  #total = 0;

  get total(): number {
    return this.#total;
  }

  of(who: string): number {
    return this.#held.get(who) ?? 0;
  }

  /**
   * Adds to what is held, until the function that it gives is called; calling it again does
   * nothing.
   */
  take(who: string, amount = 1): () => void {
    let given = false;
    this.#add(who, amount);
    return () => {
      if (given) return;
      given = true;
      this.#add(who, -amount);
    };
  }

  #add(who: string, amount: number): void {
    const now = this.of(who) + amount;
    if (now === 0) this.#held.delete(who);
    else this.#held.set(who, now);
    this.#total += amount;
  }
}
