import type { ConfirmRequest } from "@relicario/shared/contract";
import { createStore } from "zustand/vanilla";

/** A question on the screen. */
export interface OpenConfirm {
  readonly request: ConfirmRequest;
  readonly answer: (answer: boolean) => void;
}

/** Questions, one at a time in the order they were asked. */
export interface Confirms {
  readonly ask: (request: ConfirmRequest) => Promise<boolean>;
  readonly getState: () => OpenConfirm | null;
  readonly subscribe: (listener: () => void) => () => void;
}

export function createConfirms(): Confirms {
  const store = createStore<readonly OpenConfirm[]>(() => []);
  return Object.freeze<Confirms>({
    ask: (request) =>
      new Promise((resolve) => {
        const question: OpenConfirm = {
          request,
          answer: (answer) => {
            resolve(answer);
            store.setState((waiting) => waiting.filter((each) => each !== question), true);
          },
        };
        store.setState((waiting) => [...waiting, question], true);
      }),
    getState: () => store.getState()[0] ?? null,
    subscribe: store.subscribe,
  });
}
