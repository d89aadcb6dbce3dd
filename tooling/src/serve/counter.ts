/** How much of something is held at this moment, by whom, and altogether. */
export class Counter {
  readonly #counts = new Map<string, number>();
  #total = 0;

  get total(): number {
    return this.#total;
  }

  get(key: string): number {
    return this.#counts.get(key) ?? 0;
  }

  /**
   * Adds to what is held, until the function that it gives is called; calling it again does
   * nothing.
   */
  acquire(key: string, amount = 1): () => void {
    let released = false;
    this.#add(key, amount);
    return () => {
      if (released) return;
      released = true;
      this.#add(key, -amount);
    };
  }

  #add(key: string, amount: number): void {
    const count = this.get(key) + amount;
    if (count === 0) this.#counts.delete(key);
    else this.#counts.set(key, count);
    this.#total += amount;
  }
}
