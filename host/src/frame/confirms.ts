import type { ConfirmRequest } from "@relicario/shared/contract";

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
  const waiting: OpenConfirm[] = [];
  const listeners = new Set<() => void>();
  const tell = () => {
    for (const listener of [...listeners]) listener();
  };
  return Object.freeze<Confirms>({
    ask: (request) =>
      new Promise((resolve) => {
        const question: OpenConfirm = {
          request,
          answer: (answer) => {
            const index = waiting.indexOf(question);
            if (index !== -1) waiting.splice(index, 1);
            resolve(answer);
            tell();
          },
        };
        waiting.push(question);
        tell();
      }),
    getState: () => waiting[0] ?? null,
    subscribe: (listener) => {
      listeners.add(listener);
      return () => {
        listeners.delete(listener);
      };
    },
  });
}
