import type { ConfirmRequest } from "@relicario/shared/contract";
import { ConfirmDialog } from "@relicario/shared/ui";
import { useState, useSyncExternalStore } from "react";
import { createStore } from "zustand/vanilla";

/** A question that waits for an answer. */
interface PendingConfirm {
  readonly request: ConfirmRequest;
  readonly answer: (answer: boolean) => void;
}

/** Confirmation dialogs, shown one at a time in the order they were requested. */
export interface Confirms {
  readonly ask: (request: ConfirmRequest) => Promise<boolean>;
  readonly getState: () => PendingConfirm | null;
  readonly subscribe: (listener: () => void) => () => void;
}

export function createConfirms(): Confirms {
  const store = createStore<readonly PendingConfirm[]>(() => []);
  return Object.freeze<Confirms>({
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
export function ConfirmHost({ confirms }: { readonly confirms: Confirms }) {
  const pending = useSyncExternalStore(confirms.subscribe, confirms.getState);
  const [last, setLast] = useState(pending);
  if (pending !== null && pending !== last) setLast(pending);
  const displayed = pending ?? last; // an answered question stays mounted, closed, while its overlay fades
  return (
    displayed !== null && <ConfirmDialog open={pending !== null} {...displayed.request} onAnswer={displayed.answer} />
  );
}
