import type { DeploymentDeps } from "../load.ts";

/** Exclusive locks of one browser, which jsdom lacks. */
export function createLocks(): DeploymentDeps["locks"] {
  const lastHolders = new Map<string, Promise<unknown>>();
  const request = (name: string, _options: LockOptions, callback: () => Promise<unknown>): Promise<unknown> => {
    const result = (lastHolders.get(name) ?? Promise.resolve()).then(callback);
    lastHolders.set(
      name,
      result.catch(() => undefined),
    );
    return result;
  };
  return { request: request as LockManager["request"] };
}
