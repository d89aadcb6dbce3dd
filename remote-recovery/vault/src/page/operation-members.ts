/**
 * Members that are operations of the vault's worker: `own` has those that the page does more for,
 * and every other name is an operation under `path`, made when it is first asked for. Which there
 * are only the worker knows (worker/vault-operations.ts); a name that is none is refused there.
 *
 * Nothing can be set on it. `then` is no member, else a promise of it would never settle.
 */
export function withOperations<Members extends object>(
  own: Partial<Members>,
  path: readonly string[],
  call: (path: readonly string[], args: readonly unknown[]) => Promise<unknown>,
): Members {
  const operations = new Map<string, unknown>();
  return new Proxy(Object.freeze(own), {
    get: (target, name) => {
      if (typeof name === "symbol" || name === "then" || name in target) return Reflect.get(target, name);
      const operation = operations.get(name) ?? ((...args: readonly unknown[]) => call([...path, name], args));
      operations.set(name, operation);
      return operation;
    },
  }) as Members; // the worker's list is held to the contract where it is written
}
