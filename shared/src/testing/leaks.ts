/** What a screen must clean up when it is unmounted. */
export interface LeakCount {
  /** Listeners on window and document. */
  readonly listeners: number;
  readonly intervals: number;
  /** Children of the body, such as what dialogs and menus leave behind. */
  readonly nodes: number;
}

export interface LeakWatch {
  readonly count: () => LeakCount;
  readonly stop: () => void;
}

/** Starts counting, by wrapping the functions that attach and detach. */
export function watchLeaks(): LeakWatch {
  const targets = [window, document] as const;
  const originals = targets.map((target) => ({ target, add: target.addEventListener, remove: target.removeEventListener }));
  const attached = targets.map(() => new Map<string, Set<unknown>>());
  for (const [index, { target, add, remove }] of originals.entries()) {
    const known = attached[index] ?? new Map<string, Set<unknown>>();
    const keyOf = (type: string, options: unknown) => `${type} ${String(typeof options === "object" && options !== null && "capture" in options ? Boolean(options.capture) : options === true)}`;
    target.addEventListener = (...args: Parameters<typeof add>) => {
      const [type, listener, options] = args;
      const isOnce = typeof options === "object" && options.once === true;
      if (!isOnce) known.set(keyOf(type, options), (known.get(keyOf(type, options)) ?? new Set()).add(listener));
      add.apply(target, args);
    };
    target.removeEventListener = (...args: Parameters<typeof remove>) => {
      const [type, listener, options] = args;
      known.get(keyOf(type, options))?.delete(listener);
      remove.apply(target, args);
    };
  }
  const { setInterval: setOriginal, clearInterval: clearOriginal } = window;
  const intervals = new Set<unknown>();
  window.setInterval = ((...args: Parameters<typeof setOriginal>) => {
    const id = setOriginal(...args);
    intervals.add(id);
    return id;
  }) as typeof setOriginal;
  window.clearInterval = (id) => {
    intervals.delete(id);
    clearOriginal(id);
  };

  return {
    count: () => ({
      listeners: attached.reduce((sum, known) => sum + [...known.values()].reduce((inner, set) => inner + set.size, 0), 0),
      intervals: intervals.size,
      nodes: document.body.childElementCount,
    }),
    stop: () => {
      for (const { target, add, remove } of originals) {
        target.addEventListener = add;
        target.removeEventListener = remove;
      }
      window.setInterval = setOriginal;
      window.clearInterval = clearOriginal;
    },
  };
}
