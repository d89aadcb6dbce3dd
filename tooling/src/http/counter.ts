/** Counts what each key holds, and the total. */
export class Counter {
  readonly #counts = new Map<string, number>();
  #total = 0;

  get total(): number {
    return this.#total;
  }

  get(key: string): number {
    return this.#counts.get(key) ?? 0;
  }

  /** Adds `amount` until the returned function is called, which is idempotent. */
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
