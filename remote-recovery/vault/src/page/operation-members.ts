/**
 * Adds the operations of the vault's worker to `own` members. Every other name becomes an operation
 * under `path`, created on first access. The worker has the list of operations
 * (worker/vault-operations.ts) and rejects other names.
 *
 * The result is immutable. It has no member `then`, which would keep a promise of it from settling.
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
  }) as Members; // vault-operations.ts verifies its list against the contract
}
