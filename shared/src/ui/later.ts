import { useEffect, useEffectEvent, useSyncExternalStore } from "react";

/** Pauses before each attempt to fetch code, in milliseconds. */
const pauses = [0, 350, 700, 1400];

/** Code that is fetched when it is needed, or shortly before. */
export interface Later<Module> {
  /** Null until it is here. */
  readonly get: () => Module | null;
  readonly subscribe: (listener: () => void) => () => void;
  /** Fetches it, with a few attempts. A failure is not remembered: asking again fetches anew. */
  readonly load: () => Promise<Module>;
}

/** `fetch`: an `import()` that may be repeated. */
export function createLater<Module>(fetch: () => Promise<Module>): Later<Module> {
  let module: Module | null = null;
  let loading: Promise<Module> | null = null;
  const listeners = new Set<() => void>();

  const attempt = async (): Promise<Module> => {
    let failure: unknown;
    for (const pause of pauses) {
      if (pause > 0) await new Promise((resolve) => setTimeout(resolve, pause));
      try {
        module = await fetch();
        for (const listener of [...listeners]) listener();
        return module;
      } catch (error) {
        failure = error; // another attempt may help; the last one is told
      }
    }
    throw failure;
  };

  return Object.freeze<Later<Module>>({
    get: () => module,
    subscribe: (listener) => {
      listeners.add(listener);
      return () => {
        listeners.delete(listener);
      };
    },
    load: () => {
      if (module !== null) return Promise.resolve(module);
      loading ??= attempt().finally(() => {
        loading = null;
      });
      return loading;
    },
  });
}

/** The module, null while it is not here. `wanted`: it is needed now; `onFailed` is told when it cannot be had. */
export function useLater<Module>(later: Later<Module>, wanted: boolean, onFailed: () => void): Module | null {
  const module = useSyncExternalStore(later.subscribe, later.get);
  const handleFailed = useEffectEvent(onFailed);
  useEffect(() => {
    if (!wanted) return undefined;
    let current = true;
    later.load().catch(() => {
      if (current) handleFailed();
    });
    return () => {
      current = false;
    };
  }, [later, wanted]);
  return module;
}
