import type { ConfirmRequest } from "@relicario/shared/contract";
import { ConfirmDialog } from "@relicario/shared/ui";
import { useState, useSyncExternalStore } from "react";
import { createStore } from "zustand/vanilla";

/** A question that waits for an answer. */
export interface OpenConfirm {
  readonly request: ConfirmRequest;
  readonly answer: (answer: boolean) => void;
}

/** Confirmation dialogs, shown one at a time in the order they were requested. */
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

/** Shows the first question that waits for an answer. */
export function ConfirmHost({ confirms }: { readonly confirms: Confirms }) {
  const waiting = useSyncExternalStore(confirms.subscribe, confirms.getState);
  const [last, setLast] = useState(waiting);
  if (waiting !== null && waiting !== last) setLast(waiting);
  const shown = waiting ?? last; // an answered question stays mounted, closed, while its overlay fades
  return shown !== null && <ConfirmDialog open={waiting !== null} {...shown.request} onAnswer={shown.answer} />;
}
