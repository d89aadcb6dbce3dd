import { createStore } from "zustand/vanilla";

interface PendingDialog<Request, Answer> {
  readonly request: Request;
  readonly answer: (answer: Answer) => void;
}

/** Dialogs. They are shown one at a time, in the order of the requests. */
export interface DialogQueue<Request, Answer> {
  readonly ask: (request: Request) => Promise<Answer>;
  readonly getState: () => PendingDialog<Request, Answer> | null;
  readonly subscribe: (listener: () => void) => () => void;
}

export function createDialogQueue<Request, Answer>(): DialogQueue<Request, Answer> {
  const store = createStore<readonly PendingDialog<Request, Answer>[]>(() => []);
  return Object.freeze<DialogQueue<Request, Answer>>({
    ask: (request) =>
      new Promise((resolve) => {
        const pendingDialog: PendingDialog<Request, Answer> = {
          request,
          answer: (answer) => {
            resolve(answer);
            store.setState((pending) => pending.filter((candidate) => candidate !== pendingDialog), true);
          },
        };
        store.setState((pending) => [...pending, pendingDialog], true);
      }),
    getState: () => store.getState()[0] ?? null,
    subscribe: store.subscribe,
  });
}
