import type { ConfirmOptions } from "@relicario/shared/contract";
import { ConfirmDialog } from "@relicario/shared/ui";
import { useState, useSyncExternalStore } from "react";
import { createStore } from "zustand/vanilla";

/** A question that waits for an answer. */
interface PendingConfirm {
  readonly request: ConfirmOptions;
  readonly answer: (answer: boolean) => void;
}

/** Confirmation dialogs, shown one at a time in the order they were requested. */
export interface ConfirmQueue {
  readonly ask: (request: ConfirmOptions) => Promise<boolean>;
  readonly getState: () => PendingConfirm | null;
  readonly subscribe: (listener: () => void) => () => void;
}

export function createConfirmQueue(): ConfirmQueue {
  const store = createStore<readonly PendingConfirm[]>(() => []);
  return Object.freeze<ConfirmQueue>({
    ask: (request) =>
      new Promise((resolve) => {
        const question: PendingConfirm = {
          request,
          answer: (answer) => {
            resolve(answer);
            store.setState((pending) => pending.filter((candidate) => candidate !== question), true);
          },
        };
        store.setState((pending) => [...pending, question], true);
      }),
    getState: () => store.getState()[0] ?? null,
    subscribe: store.subscribe,
  });
}

/** Shows the first question that waits for an answer. */
export function ConfirmHost({ confirms: confirmQueue }: { readonly confirms: ConfirmQueue }) {
  const pending = useSyncExternalStore(confirmQueue.subscribe, confirmQueue.getState);
  const [lastConfirm, setLast] = useState(pending);
  if (pending !== null && pending !== lastConfirm) setLast(pending);
  // an answered question stays mounted, closed, while its overlay fades
  const displayedConfirm = pending ?? lastConfirm;
  return (
    displayedConfirm !== null && (
      <ConfirmDialog open={pending !== null} {...displayedConfirm.request} onAnswer={displayedConfirm.answer} />
    )
  );
}
